import { expect, onTestFinished, test } from 'vitest';

import { groupExceptions } from '#storage/queue/jobs.ts';
import { silentLog } from '#kernel/log.ts';
import { DurableJobStore } from '#storage/postgres/durable_job_store.ts';
import { durableQueue } from '#storage/queue/durable_queue.ts';
import { runDurableJobs } from '#storage/queue/durable_job_runner.ts';
import type { JobQueue } from '#storage/queue/job_queue.ts';
import { world } from '#test/kit/world.ts';

const { name } = groupExceptions;
const ROOMY = { items: 1_000, itemsOfOrg: 1_000, jobs: 1_000 };

/** A worker that nobody wakes but who is told to, and what is stored for it. */
async function place({ capacity = ROOMY, run = async (): Promise<void> => {} } = {}) {
  const w = await world({ jobs: 'real queue' });
  const { db, clock } = w.context;
  const store = new DurableJobStore(db.session());
  const seen: string[] = [];
  const wakeUps: string[] = [];
  const handler = runDurableJobs(db, (job) => wakeUps.push(job.name))({
    job: groupExceptions,
    capacity,
    async run(bytes) {
      await run();
      seen.push(bytes.toString());
    },
  });
  onTestFinished(() => handler.stop?.());
  const wake = () => handler.run({}, { jobId: '1', attempt: 1, log: silentLog });
  const keep = (text: string) =>
    store.insert(
      name,
      [{ jobId: `job_${text}`, orgId: 'org', serviceId: 'service', items: 1, bytes: Buffer.from(text) }],
      clock.now(),
    );
  return { w, store, handler, seen, wakeUps, wake, keep };
}

test('a worker finds without a wake-up what is stored while it promises to look', async () => {
  const { keep, wake, seen } = await place();
  let promised = 0;
  for (let i = 0; promised < 5; i += 1) {
    const began = performance.now();
    const forMs = await keep(`${i}`);
    if (forMs > performance.now() - began) promised += 1;
    else void wake();
    await expect.poll(() => seen, { interval: 5 }).toContain(`${i}`);
  }
});

test('nobody is woken while a worker looks by itself, and somebody is when it does so no longer', async () => {
  const { w, store } = await place();
  const woken: string[] = [];
  const queue: JobQueue = {
    ...w.context.queue,
    add: async (jobs) => void woken.push(...jobs.map(({ job }) => job.name)),
  };
  const { db, clock } = w.context;
  const durable = durableQueue(queue, { db, clock, log: silentLog });
  const jobs = [{ orgId: 'org', serviceId: 'service', items: 1, bytes: Buffer.from('text') }];
  const wokenBy = async (forMs: number) => {
    woken.length = 0;
    expect(await store.watch(name, 'worker_1', forMs)).toBe(true);
    await durable.addDurable(groupExceptions, jobs);
    return woken.length;
  };
  await expect.poll(() => wokenBy(4_000)).toBe(0);
  await store.endWatch(name, 'worker_1');
  await durable.addDurable(groupExceptions, jobs);
  expect(woken).toEqual([name]);
});

test('one worker at a time promises to look; a promise of a clock that was set back since does not count', async () => {
  const { w, store, keep } = await place();
  expect(await store.watch(name, 'worker_1', 4_000)).toBe(true);
  await w.context.db.sql.run(`update leases set held_until = now() + interval '1 hour' where name = 'watch ${name}'`);
  expect(await keep('first')).toBe(0);
  expect(await store.watch(name, 'worker_2', 4_000)).toBe(true);
  await w.context.db.sql.run(`update leases set held_until = now() + interval '4 s' where name = 'watch ${name}'`);
  expect(await store.watch(name, 'worker_1', 4_000)).toBe(false);
  expect(await store.watch(name, 'worker_2', 4_000)).toBe(true);
  await store.endWatch(name, 'worker_1');
  expect(await keep('second')).toBeGreaterThan(0);
  await store.endWatch(name, 'worker_2');
  expect(await keep('third')).toBe(0);
});

test('a worker without room for all that waits wakes others', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { keep, wake, wakeUps, seen } = await place({ capacity: { ...ROOMY, jobs: 1 }, run: () => gate });
  await keep('first');
  await keep('second');
  const ended = wake();
  await expect.poll(() => wakeUps).toContain(name);
  open();
  await ended;
  expect(seen).toEqual(['first', 'second']);
});

test('a worker that is full wakes others for what comes later', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const run = async (): Promise<void> => {
    begin();
    await gate;
  };
  const { keep, wake, wakeUps } = await place({ capacity: { ...ROOMY, jobs: 1 }, run });
  await keep('first');
  const ended = wake();
  await begun;
  expect(wakeUps).toEqual([]);
  await keep('second');
  void wake();
  await expect.poll(() => wakeUps).toContain(name);
  open();
  await ended;
});

test('a worker that begins nothing although jobs are ready promises no longer to look', async () => {
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  const { keep, wake } = await place({ capacity: { ...ROOMY, jobs: 1 }, run: () => never });
  await keep('first');
  void wake();
  let number = 0;
  await expect.poll(() => keep(`more ${(number += 1)}`)).toBeGreaterThan(0);
  await expect.poll(() => keep(`more ${(number += 1)}`)).toBe(0);
  end();
});

test('a worker that stops takes its promise back and leaves what comes to others', async () => {
  const { keep, wake, wakeUps, handler, seen } = await place();
  await keep('first');
  await wake();
  await handler.stop?.();
  expect(wakeUps).toEqual([name]);
  expect(await keep('second')).toBe(0);
  expect(seen).toEqual(['first']);
});

test('a worker that starts runs what waits since before', async () => {
  const { keep, handler, seen } = await place();
  await keep('first');
  handler.start?.(silentLog);
  await expect.poll(() => seen).toEqual(['first']);
});
