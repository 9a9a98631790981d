import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { groupExceptions } from '#jobs/group_exceptions.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue } from '#storage/queue/job_queue.ts';
import { startJobWorkers } from '#storage/queue/job_workers.ts';
import { fetchKept, keepJobs } from '#storage/queue/kept_jobs.ts';
import { type World, world } from '#test/kit/world.ts';

const backends = [
  { name: 'PostgreSQL', isAvailable: true, redisUrl: () => undefined },
  { name: 'Redis', isAvailable: inject('redisUrl') !== null, redisUrl: () => inject('redisUrl') ?? undefined },
];

describe.each(backends.filter(({ isAvailable }) => isAvailable))('a kept job on $name', ({ redisUrl }) => {
  async function place() {
    const w = await world();
    const prefix = `k_${randomBytes(6).toString('hex')}`;
    const address = { redisUrl: redisUrl(), databaseUrl: w.house.config.databaseUrl };
    const bare = openJobQueue(connectQueue(address, { durable: true, poolMax: 4 }), silentLog, prefix);
    const queue = keepJobs(bare, w.house.db, silentLog, 0);
    onTestFinished(() => queue.close());
    const keep = (text: string) => queue.keep(groupExceptions, Buffer.from(text));
    const seen: string[] = [];
    const consume = (run: (text: string) => Promise<void> = async () => {}) => {
      const kept = fetchKept(w.house.db);
      const handler = kept({
        job: groupExceptions,
        async run(bytes) {
          await run(bytes.toString());
          seen.push(bytes.toString());
        },
      });
      const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
      const workers = startJobWorkers(connect, [handler], silentLog, { prefix });
      onTestFinished(() => workers.close());
    };
    const wipe = () => (address.redisUrl === undefined ? wipePostgres(w) : wipeRedis(address.redisUrl, prefix));
    return { w, queue, keep, bare, seen, consume, wipe };
  }

  test('runs with all that it was given, and is let go of', async () => {
    const { w, queue, seen, consume } = await place();
    const given = [randomBytes(300_000), Buffer.alloc(0), Buffer.from([0, 255, 10, 13, 92])];
    for (const bytes of given) await queue.keep(groupExceptions, bytes);
    expect(await queue.keptBytes(0)).toBeGreaterThan(300_000);
    expect(await queue.keptBytes(1e12)).toBeGreaterThan(300_000);
    consume();
    await expect.poll(() => seen.toSorted()).toEqual(given.map(String).toSorted());
    await expect.poll(() => listKept(w)).toEqual([]);
  });

  test('runs although the queue has lost it', async () => {
    const { w, queue, keep, bare, seen, consume, wipe } = await place();
    await Promise.all([keep('first'), keep('second')]);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(1);
    await wipe();
    expect((await bare.depths()).ingest.ready).toBe(0);
    consume();
    await queue.addForgotten();
    await expect.poll(() => seen.toSorted()).toEqual(['first', 'second']);
    await expect.poll(() => listKept(w)).toEqual([]);
  });

  test('is not doubled while the queue has it', async () => {
    const { queue, keep, bare, seen, consume } = await place();
    await Promise.all([keep('first'), keep('second')]);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(1);
    for (let i = 0; i < 3; i += 1) await queue.addForgotten();
    expect((await bare.depths()).ingest.ready).toBe(1);
    consume();
    await expect.poll(() => seen.toSorted()).toEqual(['first', 'second']);
    await expect.poll(async () => (await bare.depths()).ingest.ready).toBe(0);
    expect(seen).toHaveLength(2);
  });

  test('that fails is kept until it has run, and those that shared its wake-up are let go of', async () => {
    const { w, keep, seen, consume } = await place();
    await Promise.all([keep('good'), keep('bad'), keep('better')]);
    let times = 0;
    let keptAtLast: unknown[] = [];
    consume(async (text) => {
      if (text !== 'bad') return;
      times += 1;
      if (times < 3) throw new Error('not yet');
      keptAtLast = await listKept(w);
    });
    await expect.poll(() => seen.toSorted(), { timeout: 10_000 }).toEqual(['bad', 'better', 'good']);
    await expect.poll(() => listKept(w)).toEqual([]);
    expect(seen).toHaveLength(3);
    expect(keptAtLast).toHaveLength(1);
  });
});

test('jobs are kept whether or not the queue answers, and nothing is promised while PostgreSQL does not', async () => {
  const w = await world();
  const away = (): Promise<never> => Promise.reject(new AppError('unavailable', 'away'));
  const queue: JobQueue = { ...w.house.queue, add: away };
  const bytes = Buffer.from('something');
  await keepJobs(queue, w.house.db, silentLog).keep(groupExceptions, bytes);
  const hanging: JobQueue = { ...queue, add: () => new Promise(() => {}) };
  await keepJobs(hanging, w.house.db, silentLog).keep(groupExceptions, bytes);
  expect(await listKept(w)).toHaveLength(2);
  const sql = { ...w.house.db.sql, run: away };
  await expect(keepJobs(queue, { ...w.house.db, sql }, silentLog).keep(groupExceptions, bytes)).rejects.toMatchObject({
    code: 'unavailable',
  });
});

test('all that the queue has lost comes back, however much it is', async () => {
  const w = await world();
  await w.house.db.sql.run(
    `insert into kept_jobs (kept_id, number, job_name, payload, kept_at)
     select 'job_' || n / 2, n % 2, 'group_exceptions', '', now() - interval '1 minute' from generate_series(2, 2401) n`,
  );
  const added = new Set<unknown>();
  const add: JobQueue['add'] = async (jobs) => jobs.forEach(({ id }) => added.add(id));
  const queue = keepJobs({ ...w.house.queue, add }, w.house.db, silentLog);
  for (let i = 0; i < 3; i += 1) await queue.addForgotten();
  expect(added.size).toBe(1_200);
});

async function listKept({ house }: World): Promise<unknown[]> {
  return await house.db.sql.rows('select kept_id from kept_jobs');
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
