import { afterEach, expect, test, vi } from 'vitest';

import { invoke } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';

interface Asked {
  readonly path: string;
  readonly body: { readonly reads?: readonly { readonly action: string; readonly input: object }[] };
}

afterEach(() => vi.unstubAllGlobals());

/** A server that answers each read with its input, or as told. */
function server(answer: (asked: Asked) => Response | null = () => null): Asked[] {
  const all: Asked[] = [];
  vi.stubGlobal('fetch', async (url: string, { body, signal }: RequestInit) => {
    if (typeof body !== 'string') throw new Error('the body is no text');
    const asked = { path: new URL(url).pathname, body: JSON.parse(body) as Asked['body'] };
    all.push(asked);
    const reply = answer(asked);
    if (reply !== null) return reply;
    await Promise.resolve();
    signal?.throwIfAborted();
    const result =
      asked.body.reads === undefined
        ? asked.body
        : {
            answers: asked.body.reads.map(({ action, input }) =>
              action === 'list_members'
                ? { problem: { status: 403, code: 'forbidden', detail: 'not for you' } }
                : { result: input },
            ),
          };
    return Response.json({ result });
  });
  return all;
}

const signal = () => new AbortController().signal;

test('what is asked for at the same moment goes in one request, with an answer each', async () => {
  const asked = server();
  const [teams, members, incidents] = await Promise.allSettled([
    invoke('org_1', 'list_teams', {}, signal()),
    invoke('org_1', 'list_members', {}, signal()),
    invoke('org_1', 'search_incidents', { limit: 3 }, signal()),
  ]);
  expect(asked.map(({ path }) => path)).toEqual(['/api/console/organizations/org_1/reads']);
  expect(teams).toEqual({ status: 'fulfilled', value: {} });
  expect(incidents).toEqual({ status: 'fulfilled', value: { limit: 3 } });
  const refusal: unknown = members.status === 'rejected' ? members.reason : null;
  expect(isApiError(refusal, 403) && refusal.message).toBe('Not for you.');
});

test('one alone, a slow one and a change go by themselves', async () => {
  const asked = server();
  await Promise.all([
    invoke('org_1', 'list_teams', {}, signal()),
    invoke('org_1', 'describe_metrics', { serviceId: 's' }, signal()),
    invoke('org_1', 'create_team', { name: 'Platform' }),
  ]);
  expect(asked.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)).toSorted()).toEqual([
    'create_team',
    'describe_metrics',
    'list_teams',
  ]);
});

test('one that is no longer wanted is left out, and ends nobody else', async () => {
  const asked = server();
  const ended = new AbortController();
  const gone = invoke('org_1', 'list_members', {}, ended.signal);
  const others = [
    invoke('org_1', 'list_teams', {}, signal()),
    invoke('org_1', 'search_incidents', { limit: 1 }, signal()),
  ];
  ended.abort();
  await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
  expect(await Promise.all(others)).toEqual([{}, { limit: 1 }]);
  expect(asked[0]!.body.reads!.map(({ action }) => action)).toEqual(['list_teams', 'search_incidents']);
});

test('more than twenty go in several requests', async () => {
  const asked = server();
  const results = await Promise.all(
    Array.from({ length: 45 }, (_, index) => invoke('org_1', 'search_incidents', { limit: index + 1 }, signal())),
  );
  expect(results).toEqual(Array.from({ length: 45 }, (_, index) => ({ limit: index + 1 })));
  expect(asked.map(({ body }) => body.reads?.length)).toEqual([20, 20, 5]);
});

test('a server of an earlier version is asked for each by itself; an outage is the error of each', async () => {
  const asked = server(({ path }) => (path.endsWith('/reads') ? Response.json({}, { status: 404 }) : null));
  await Promise.all([
    invoke('org_1', 'list_teams', {}, signal()),
    invoke('org_1', 'search_incidents', { limit: 1 }, signal()),
  ]);
  expect(asked).toHaveLength(3);
  vi.unstubAllGlobals();
  server(() => Response.json({}, { status: 503 }));
  const failed = await Promise.allSettled([
    invoke('org_1', 'list_teams', {}, signal()),
    invoke('org_1', 'search_incidents', { limit: 1 }, signal()),
  ]);
  expect(failed.map((outcome) => outcome.status === 'rejected' && isApiError(outcome.reason, 503))).toEqual([
    true,
    true,
  ]);
});
