import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { groupExceptions } from '#jobs/group_exceptions.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue, pending } from '#storage/queue/job_queue.ts';
import { handleJob, startJobWorkers } from '#storage/queue/job_workers.ts';
import { fetchKept, keepJobs } from '#storage/queue/kept_jobs.ts';
import { type World, world } from '#test/kit/world.ts';

const backends = [
  { name: 'PostgreSQL', isAvailable: true, redisUrl: () => undefined },
  { name: 'Redis', isAvailable: inject('redisUrl') !== null, redisUrl: () => inject('redisUrl') ?? undefined },
];

const job = (packed: string) => pending(groupExceptions, { packed });

describe.each(backends.filter(({ isAvailable }) => isAvailable))('a kept job on $name', ({ redisUrl }) => {
  async function place() {
    const w = await world();
    const prefix = `k_${randomBytes(6).toString('hex')}`;
    const address = { redisUrl: redisUrl(), databaseUrl: w.house.config.databaseUrl };
    const bare = openJobQueue(connectQueue(address, { durable: true, poolMax: 4 }), silentLog, prefix);
    const queue = keepJobs(bare, w.house.db, silentLog, 0);
    onTestFinished(() => queue.close());
    const seen: string[] = [];
    const consume = (run: (packed: string) => Promise<void> = async () => {}) => {
      const handler = handleJob(groupExceptions, async ({ packed }) => {
        await run(packed);
        seen.push(packed);
      });
      const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
      const workers = startJobWorkers(connect, fetchKept([handler], w.house.db), silentLog, { prefix });
      onTestFinished(() => workers.close());
    };
    const wipe = () => (address.redisUrl === undefined ? wipePostgres(w) : wipeRedis(address.redisUrl, prefix));
    return { w, queue, bare, seen, consume, wipe };
  }

  test('runs with all that it was given, and is let go of', async () => {
    const { w, queue, seen, consume } = await place();
    const packed = randomBytes(300_000).toString('base64');
    await queue.add([job(packed), job('second')]);
    expect(await queue.keptBytes(0)).toBeGreaterThan(300_000);
    expect(await queue.keptBytes(1e12)).toBeGreaterThan(300_000);
    consume();
    await expect.poll(() => seen.toSorted()).toEqual([packed, 'second'].toSorted());
    await expect.poll(() => listKept(w)).toEqual([]);
  });

  test('runs although the queue has lost it', async () => {
    const { w, queue, bare, seen, consume, wipe } = await place();
    await queue.add([job('first'), job('second')]);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(2);
    await wipe();
    expect((await bare.depths()).ingest.ready).toBe(0);
    consume();
    await queue.addForgotten();
    await expect.poll(() => seen.toSorted()).toEqual(['first', 'second']);
    await expect.poll(() => listKept(w)).toEqual([]);
  });

  test('is not doubled while the queue has it', async () => {
    const { queue, bare, seen, consume } = await place();
    await queue.add([job('first')]);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(1);
    for (let i = 0; i < 3; i += 1) await queue.addForgotten();
    expect((await bare.depths()).ingest.ready).toBe(1);
    consume();
    await expect.poll(() => seen).toEqual(['first']);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(0);
    expect(seen).toEqual(['first']);
  });

  test('that fails is kept until it has run', async () => {
    const { w, queue, seen, consume } = await place();
    let failures = 0;
    consume(async () => {
      failures += 1;
      expect(await listKept(w)).toHaveLength(1);
      if (failures < 3) throw new Error('not yet');
    });
    await queue.add([job('first')]);
    await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['first']);
    await expect.poll(() => listKept(w)).toEqual([]);
  });
});

test('jobs are kept whether or not the queue answers, and nothing is promised while PostgreSQL does not', async () => {
  const w = await world();
  const away = (): Promise<never> => Promise.reject(new AppError('unavailable', 'away'));
  const queue: JobQueue = { ...w.house.queue, add: away };
  await keepJobs(queue, w.house.db, silentLog).add([job('first')]);
  await keepJobs({ ...queue, add: () => new Promise(() => {}) }, w.house.db, silentLog).add([job('second')]);
  expect(await listKept(w)).toHaveLength(2);
  const sql = { ...w.house.db.sql, run: away };
  await expect(keepJobs(queue, { ...w.house.db, sql }, silentLog).add([job('third')])).rejects.toMatchObject({
    code: 'unavailable',
  });
});

test('all that the queue has lost comes back, however much it is', async () => {
  const w = await world();
  await w.house.db.sql.run(
    `insert into kept_jobs (id, job_name, payload, kept_at)
     select 'job_' || n, 'group_exceptions', '{}', now() - interval '1 minute' from generate_series(1, 1200) n`,
  );
  const added = new Set<unknown>();
  const add: JobQueue['add'] = async (jobs) => jobs.forEach(({ id }) => added.add(id));
  const queue = keepJobs({ ...w.house.queue, add }, w.house.db, silentLog);
  for (let i = 0; i < 3; i += 1) await queue.addForgotten();
  expect(added.size).toBe(1_200);
});

async function listKept({ house }: World): Promise<unknown[]> {
  return await house.db.sql.rows('select id from kept_jobs');
}

async function wipePostgres({ house }: World): Promise<void> {
  await house.db.sql.run('truncate bullmq.job cascade');
}

async function wipeRedis(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  const keys = await redis.keys(`*${prefix}*`);
  await redis.del(keys);
  redis.disconnect();
}
