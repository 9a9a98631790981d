import { describe, expect, test } from 'vitest';

import { manyProcesses } from '#test/kit/many_processes.ts';
import { type World, world } from '#test/kit/world.ts';

const PROCESSES = 4;

const LIMITS = { callsPerMinute: 40, ingestEventsPerSecond: 10, ingestPointsPerSecond: 10 };

/** Returns how many of so many requests are accepted when they come to all processes in turn, at the same time. */
async function accepted(
  processes: readonly World[],
  requests: number,
  send: (process: World, index: number) => Promise<boolean>,
): Promise<number> {
  const answers = Array.from({ length: requests }, (_, index) => send(processes[index % processes.length]!, index));
  return (await Promise.all(answers)).filter((isAccepted) => isAccepted).length;
}

const postPoints = async ({ app }: World, ingestionKey: string, hosts: readonly string[]) =>
  await app.inject({
    method: 'POST',
    url: '/api/ingest/metrics',
    headers: { authorization: `Bearer ${ingestionKey}` },
    payload: { points: hosts.map((host) => ({ name: 'cpu', value: 1, labels: { host } })) },
  });

const postException = async ({ app }: World, dsn: string) => {
  const { username, pathname } = new URL(dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  return await app.inject({ method: 'POST', url, payload: { message: 'beans' } });
};

describe('of four API processes', () => {
  test('all together let a key make as many calls as its limit says, not four times as many', async () => {
    const limit = LIMITS.callsPerMinute;
    const processes = await manyProcesses(await world({ newApp: true, settings: LIMITS }), PROCESSES);
    const made = await accepted(
      processes,
      PROCESSES * limit,
      async ({ call }) => (await call('list_teams')).status === 200,
    );
    expect(made).toBeGreaterThanOrEqual(limit);
    // What a minute fills up again is less than a process may make alone.
    expect(made).toBeLessThan(2 * limit);
  });

  test('each lets a key that comes to it alone make as many calls', async () => {
    const limit = LIMITS.callsPerMinute;
    const processes = await manyProcesses(await world({ newApp: true, settings: LIMITS }), PROCESSES);
    const made = await accepted(
      [processes[2]!],
      2 * limit,
      async ({ call }) => (await call('list_teams')).status === 200,
    );
    expect(made).toBeGreaterThanOrEqual(limit);
  });

  test.each([
    {
      what: 'exceptions',
      send: async (process: World, { dsn }: { dsn: string }) => (await postException(process, dsn)).statusCode === 200,
    },
    {
      what: 'points',
      send: async (process: World, { ingestionKey }: { ingestionKey: string }) =>
        (await postPoints(process, ingestionKey, ['a'])).statusCode === 202,
    },
  ])('all together take as many $what of a service as its limits say', async ({ send }) => {
    const w = await world({ newApp: true, settings: LIMITS });
    const processes = await manyProcesses(w, PROCESSES);
    const service = await w.given.service();
    // The clock stands still: what may be sent at once is the whole of it.
    const taken = await accepted(processes, 400, async (process) => await send(process, service));
    expect(taken).toBeGreaterThanOrEqual(100);
    expect(taken).toBeLessThanOrEqual(100 * 1.16 + PROCESSES);
  });

  test('all together take as many new series of a service as it may have a day, and all points of those', async () => {
    const limit = 200;
    const w = await world({ fresh: true, settings: { ingestSeriesPerDay: limit } });
    const processes = await manyProcesses(w, PROCESSES);
    const { ingestionKey } = await w.given.service();
    const hostsOf = (request: number) => Array.from({ length: 40 }, (_, index) => `host-${request}-${index}`);
    const send = async (request: number) => {
      const answer = await postPoints(processes[request % PROCESSES]!, ingestionKey, hostsOf(request));
      return answer.statusCode === 202 ? Number(answer.json().accepted) : 0;
    };
    const counts = await Promise.all(Array.from({ length: 24 }, (_, request) => send(request)));
    const taken = counts.reduce((sum, count) => sum + count, 0);
    expect(taken).toBeGreaterThanOrEqual(limit);
    expect(taken).toBeLessThanOrEqual(limit * 1.1);
  });
});
