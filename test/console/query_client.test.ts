import { InfiniteQueryObserver, QueryObserver } from '@tanstack/react-query';
import { expect, onTestFinished, test, vi } from 'vitest';

import { ApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';
import { createQueryClient } from '#console/query_client.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { happenings } from '#test/kit/when.ts';

const failing = (status: number) => () => Promise.reject(new ApiError({ status, code: 'x', message: 'x' }));

const SESSION = { user: { userId: 'user_1' }, organizations: [] } as never;

test('a session that has ended is dropped once, and the router is told', async () => {
  const onSignedOut = vi.fn<() => void>();
  const client = createQueryClient(onSignedOut);
  client.setQueryData(sessionQuery.queryKey, SESSION);
  await client.fetchQuery({ queryKey: ['a'], queryFn: failing(401) }).catch(() => {});
  await client.fetchQuery({ queryKey: ['b'], queryFn: failing(401) }).catch(() => {});
  expect([client.getQueryData(sessionQuery.queryKey), onSignedOut.mock.calls.length]).toEqual([null, 1]);
});

test('a session that is found to have ended by reading it leads to the login, and nobody logged in is no end', async () => {
  const onSignedOut = vi.fn<() => void>();
  const client = createQueryClient(onSignedOut);
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ code: 'unauthenticated' }, { status: 401 })));
  onTestFinished(() => void vi.unstubAllGlobals());
  expect([await client.fetchQuery(sessionQuery), onSignedOut.mock.calls.length]).toEqual([null, 0]);
  client.setQueryData(sessionQuery.queryKey, SESSION);
  await client.invalidateQueries();
  await client.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch(() => {});
  expect([client.getQueryData(sessionQuery.queryKey), onSignedOut.mock.calls.length]).toEqual([null, 1]);
});

test('an outage is retried, a refusal is not', async () => {
  const client = createQueryClient(() => {});
  const defaults = client.getDefaultOptions().queries!;
  const retry = defaults.retry as (failures: number, error: Error) => boolean;
  const error = (status: number) => new ApiError({ status, code: 'x', message: 'x' });
  expect([retry(0, error(0)), retry(1, error(503)), retry(2, error(503)), retry(0, error(403))]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('a query that failed in an outage is retried until it succeeds', () => {
  const client = createQueryClient(() => {});
  const refetchInterval = client.getDefaultOptions().queries!.refetchInterval as (query: unknown) => number | false;
  const after = (error: Error | null) => refetchInterval({ state: { error } });
  expect([
    after(new ApiError({ status: 502, code: 'x', message: 'x' })),
    after(null),
    after(new Error('a bug')),
  ]).toEqual([5_000, false, false]);
});

/** Answers each read when the test says so, with the number of the read. */
function answering() {
  const { all: asked, happen: ask, reach } = happenings<PromiseWithResolvers<number>>();
  const queryFn = async () => {
    const next = Promise.withResolvers<number>();
    ask(next);
    return await next.promise;
  };
  return { asked, reach, queryFn, answer: (read: number) => asked[read - 1]!.resolve(read) };
}

test('a change that becomes known while data is being read has it read once more, however often it changes', async () => {
  const client = createQueryClient(() => {});
  const { asked, reach, queryFn, answer } = answering();
  const observer = new QueryObserver(client, { queryKey: ['list'], queryFn });
  onTestFinished(observer.subscribe(() => {}));
  expect(asked).toHaveLength(1);
  const first = [client.invalidateQueries(), client.invalidateQueries({ queryKey: ['list'] })];
  answer(1);
  await reach(2);
  const later = client.invalidateQueries();
  expect(asked).toHaveLength(2);
  answer(2);
  await reach(3);
  expect(client.getQueryData(['list'])).toBe(2);
  answer(3);
  await Promise.all([...first, later]);
  expect([client.getQueryData(['list']), asked.length]).toEqual([3, 3]);
});

test('what nobody looks at is out of date after a read that was under way, and is read when it is shown', async () => {
  const client = createQueryClient(() => {});
  const { asked, queryFn, answer } = answering();
  const reading = client.fetchQuery({ queryKey: ['list'], queryFn });
  const change = client.invalidateQueries();
  answer(1);
  await Promise.all([reading, change]);
  expect(client.getQueryState(['list'])).toMatchObject({ data: 1, isInvalidated: true });
  expect(asked).toHaveLength(1);
});

test('a change is not lost when the next page of a list is loaded in place of the list', async () => {
  const client = createQueryClient(() => {});
  const { reach, queryFn, answer } = answering();
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['list'],
    queryFn,
    initialPageParam: 0,
    getNextPageParam: (last: number) => last,
  });
  onTestFinished(observer.subscribe(() => {}));
  answer(1);
  await nextTurn();
  expect(client.getQueryState(['list'])).toMatchObject({ fetchStatus: 'idle' });
  const change = client.invalidateQueries();
  const page = observer.fetchNextPage();
  await reach(3);
  answer(2);
  answer(3);
  await page;
  for (const read of [4, 5]) {
    await reach(read);
    answer(read);
  }
  await change;
  expect(client.getQueryData(['list'])).toMatchObject({ pages: [4, 5] });
});
