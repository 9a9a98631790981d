import path from 'node:path';

import { expect, inject, onTestFinished, test } from 'vitest';

import { programService } from '#infra/embedded/services.ts';
import { supervise, type Supervised } from '#infra/embedded/supervisor.ts';
import { runningClock } from '#test/kit/clock.ts';
import { pace } from '#test/kit/pace.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const ROUNDS = 4;
const EVENTS_A_ROUND = 8;
const EVENT_EVERY_MS = 150;
/** Longest from an event that is accepted to its incident, while one of two workers is frozen: 3 s, and 1 s for a busy machine. */
const OPENS_WITHIN_MS = 4_000;
/** The health endpoint tells within three seconds, and its answer is read every 200 ms. */
const TOLD_WITHIN_MS = 4_000;

const QUEUES = [
  { name: 'PostgreSQL', redisUrl: null },
  { name: 'Redis', redisUrl: inject('redisUrl') },
].filter(({ name, redisUrl }) => name === 'PostgreSQL' || canRunWith('redis-server', redisUrl !== null));

test.each(QUEUES)(
  'with its queue in $name, incidents open within three seconds while one of two workers is frozen, once each; with none at work, the health check says so',
  { timeout: 240_000 },
  async ({ redisUrl }) => {
    const settings = redisUrl === null ? {} : { redisUrl };
    const w = await staffedWorld({ jobs: 'real queue', clock: runningClock(), settings });
    const services = [];
    for (let index = 0; index < ROUNDS * EVENTS_A_ROUND; index += 1) {
      const service = await w.given.service({ name: `service ${index}` });
      const rule = { serviceId: service.serviceId, name: 'New', kind: 'exception', config: {} };
      await w.expectOk('create_alert_rule', rule);
      services.push(service);
    }
    const workers = await startWorkers(w);
    await send(w, (await w.given.service()).dsn);
    await expect.poll(() => count(w, 'exception_groups'), { timeout: 60_000 }).toBe(1);
    const acceptedAt = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const frozen = workers[round % workers.length]!;
      const turn = services.slice(round * EVENTS_A_ROUND, (round + 1) * EVENTS_A_ROUND);
      let sent = 0;
      for await (const _ of pace(() => EVENT_EVERY_MS)) {
        if (sent === turn.length) break;
        // Some are on their way when it freezes.
        if (sent === 2) process.kill(frozen.pid!, 'SIGSTOP');
        const { serviceId, dsn } = turn[sent]!;
        acceptedAt.set(serviceId, await send(w, dsn));
        sent += 1;
      }
      await expect.poll(() => count(w, 'incidents'), { timeout: 30_000 }).toBe((round + 1) * EVENTS_A_ROUND);
      process.kill(frozen.pid!, 'SIGCONT');
    }
    const opened = await w.context.db.sql.rows<{ service_id: string; ms: number }>(
      'select service_id, extract(epoch from created_at)::float8 * 1000 as ms from incidents',
    );
    const waits = opened
      .map(({ service_id: id, ms }) => Math.round(ms - acceptedAt.get(id)!))
      .toSorted((a, b) => a - b);
    console.log(`incidents after an event, in ms: ${waits.join(' ')}`);
    expect(waits.at(-1)).toBeLessThan(OPENS_WITHIN_MS);
    expect(new Set(opened.map(({ service_id: id }) => id)).size).toBe(services.length);

    await expect.poll(() => healthOf(w), { timeout: 30_000 }).toEqual([]);
    for (const { pid } of workers) process.kill(pid!, 'SIGSTOP');
    const stoppedAt = Date.now();
    await expect
      .poll(() => healthOf(w), { timeout: 30_000, interval: 200 })
      .toContainEqual(expect.stringContaining('no worker process has been alive'));
    console.log(`told by the health check after ${Date.now() - stoppedAt} ms`);
    expect(Date.now() - stoppedAt).toBeLessThan(TOLD_WITHIN_MS);
    for (const { pid } of workers) process.kill(pid!, 'SIGCONT');
  },
);

/** Returns when it was accepted. */
async function send({ app }: StaffedWorld, dsn: string): Promise<number> {
  const { username, pathname } = new URL(dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  expect((await app.inject({ method: 'POST', url, payload: { message: `failed ${dsn}` } })).statusCode).toBe(200);
  return Date.now();
}

async function count({ context }: StaffedWorld, table: 'incidents' | 'exception_groups'): Promise<number> {
  return (await context.db.sql.row<{ count: number }>(`select count(*)::int as count from ${table}`))?.count ?? 0;
}

/** The problems of workers that the health check tells of. */
async function healthOf({ app }: StaffedWorld): Promise<string[]> {
  const { pager } = (await app.inject({ url: '/healthz' })).json();
  return pager.problems.filter((problem: string) => problem.includes('worker process'));
}

async function startWorkers({ context: { config } }: StaffedWorld): Promise<Supervised[]> {
  const program = {
    entry: path.join(import.meta.dirname, '../../workers/main.ts'),
    args: ['worker'],
    log: path.join(config.dataDir, 'workers.log'),
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      DATA_DIR: config.dataDir,
      BASE_URL: config.baseUrl,
      APP_SECRET: config.appSecret,
      DATABASE_URL: config.databaseUrl,
      CLICKHOUSE_URL: config.clickhouseUrl,
      ...(config.redisUrl !== undefined && { REDIS_URL: config.redisUrl }),
      LOG_LEVEL: 'error',
    },
  };
  const workers = ['Worker 0', 'Worker 1'].map((name) => supervise(programService(name, program), () => {}));
  onTestFinished(async () => {
    for (const { pid } of workers) if (pid != null) process.kill(pid, 'SIGCONT');
    await Promise.all(workers.map((worker) => worker.stop(1_000)));
  });
  await Promise.all(workers.map(({ ready }) => ready));
  return workers;
}
