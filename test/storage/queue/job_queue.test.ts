import { randomBytes } from 'node:crypto';

import { Type } from 'typebox';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { defineJob, type JobContract } from '#kernel/job.ts';
import { silentLog } from '#kernel/log.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue, pending } from '#storage/queue/job_queue.ts';
import { handleJob, startJobWorkers } from '#storage/queue/job_workers.ts';
import { takeDatabases } from '#test/kit/databases.ts';

const greet = defineJob({
  name: 'greet',
  queue: 'paging',
  payload: Type.Object({ who: Type.String() }),
  key: null,
  attempts: 3,
  backoff: { firstDelayMs: 1, maxDelayMs: 5 },
});
const greetOnce: typeof greet = { ...greet, name: 'greet_once', key: ({ who }) => who };

const backends = [
  { name: 'PostgreSQL', isAvailable: true, redisUrl: () => undefined },
  { name: 'Redis', isAvailable: inject('redisUrl') !== null, redisUrl: () => inject('redisUrl') ?? undefined },
];

describe.each(backends.filter(({ isAvailable }) => isAvailable))('the queue on $name', ({ redisUrl }) => {
  interface Line {
    readonly queue: JobQueue;
    /** Starts workers; resolves each time `count` runs have been seen. */
    consume(
      job: JobContract,
      run: (who: string, attempt: number) => Promise<void>,
      closeWithinMs?: number,
    ): { close(): Promise<void> };
  }

  async function line(): Promise<Line> {
    const name = `q_${randomBytes(6).toString('hex')}`;
    const { databaseUrl, release } = await takeDatabases();
    onTestFinished(release);
    const address = { redisUrl: redisUrl(), databaseUrl };
    const queue = openJobQueue(connectQueue(address, { durable: true, poolMax: 4 }), silentLog, name);
    onTestFinished(() => queue.close());
    return {
      queue,
      consume(job, run, closeWithinMs = 10_000) {
        const handler = handleJob(job as typeof greet, ({ who }, { attempt }) => run(who, attempt));
        const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
        const workers = startJobWorkers(connect, [handler], silentLog, { prefix: name, closeWithinMs });
        onTestFinished(() => workers.close());
        return workers;
      },
    };
  }

  test('every job runs, whether added before or after the worker started', async () => {
    const { queue, consume } = await line();
    const seen: string[] = [];
    await queue.add([pending(greet, { who: 'Anna' }), pending(greet, { who: 'Bram' })]);
    consume(greet, async (who) => void seen.push(who));
    await queue.add([pending(greet, { who: 'Cleo' })]);
    await expect.poll(() => seen.toSorted()).toEqual(['Anna', 'Bram', 'Cleo']);
  });

  test('jobs with the same key are one job while the first is pending', async () => {
    const { queue, consume } = await line();
    const seen: string[] = [];
    await queue.add([pending(greetOnce, { who: 'Anna' }), pending(greetOnce, { who: 'Anna' })]);
    await queue.add([pending(greetOnce, { who: 'Anna' }), pending(greetOnce, { who: 'Bram' })]);
    consume(greetOnce, async (who) => void seen.push(who));
    await expect.poll(() => seen.length).toBe(2);
    await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 0 });
    await queue.add([pending(greetOnce, { who: 'Anna' })]);
    await expect.poll(() => seen.toSorted()).toEqual(['Anna', 'Anna', 'Bram']);
  });

  test('a job that throws is tried again, and given up after its attempts', async () => {
    const { queue, consume } = await line();
    const attempts: number[] = [];
    consume(greet, async (_who, attempt) => {
      attempts.push(attempt);
      throw new Error('not today');
    });
    await queue.add([pending(greet, { who: 'Anna' })]);
    await expect.poll(() => attempts).toEqual([1, 2, 3]);
    await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 0 });
  });

  test.each([
    ['of an unknown kind', greetOnce],
    ['with a newer payload', { ...greet, version: 2 }],
  ])('a job %s is left to a newer worker, and no attempt is counted', async (_, newer) => {
    const { queue, consume } = await line();
    const seen: string[] = [];
    const older = consume(greet, async (who) => void seen.push(who));
    await queue.add([pending(newer, { who: 'newer' }), pending(greet, { who: 'old' })]);
    await expect.poll(() => seen).toEqual(['old']);
    await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 1 });
    await older.close();
    const attempts: number[] = [];
    consume(newer, async (who, attempt) => {
      seen.push(who);
      attempts.push(attempt);
    });
    await expect.poll(() => seen, { timeout: 30_000 }).toEqual(['old', 'newer']);
    expect(attempts).toEqual([1]);
  });

  test('a delayed job waits for its time and is counted as delayed', async () => {
    const { queue, consume } = await line();
    const seen: string[] = [];
    consume(greet, async (who) => void seen.push(who));
    await queue.add([pending(greet, { who: 'later' }, 3_600_000), pending(greet, { who: 'soon' }, 50)]);
    await expect.poll(() => seen).toEqual(['soon']);
    await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 1 });
  });

  test('closing the workers lets what runs finish', async () => {
    const { queue, consume } = await line();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const events: string[] = [];
    const workers = consume(greet, async () => {
      events.push('began');
      await held;
      events.push('ended');
    });
    await queue.add([pending(greet, { who: 'Anna' })]);
    await expect.poll(() => events).toEqual(['began']);
    const closed = workers.close().then(() => events.push('closed'));
    release();
    await closed;
    expect(events).toEqual(['began', 'ended', 'closed']);
  });

  test('closing the workers waits for what never ends only so long, and another runs it', async () => {
    const { queue, consume } = await line();
    const { promise: never } = Promise.withResolvers<void>();
    const began: string[] = [];
    const stuck = consume(greet, async (who) => (began.push(`${who}, in vain`), await never), 50);
    await queue.add([pending(greet, { who: 'Anna' })]);
    await expect.poll(() => began).toEqual(['Anna, in vain']);
    await stuck.close();
    consume(greet, async (who) => void began.push(who));
    await expect.poll(() => began, { timeout: 30_000 }).toEqual(['Anna, in vain', 'Anna']);
  });
});
