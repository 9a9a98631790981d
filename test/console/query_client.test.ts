// @vitest-environment happy-dom
import { expect, test, vi } from 'vitest';

import { ApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';
import { createQueryClient } from '#console/query_client.ts';

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
