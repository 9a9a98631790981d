import { randomBytes } from 'node:crypto';

import { type Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { Type } from 'typebox';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { defineJob, type JobContract, type QueueName } from '#kernel/job.ts';
import { silentLog } from '#kernel/log.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue, pending } from '#storage/queue/job_queue.ts';
import { handleJob, startJobWorkers } from '#storage/queue/job_workers.ts';
import { takeDatabases } from '#test/kit/databases.ts';
import { sweep } from '#test/kit/properties.ts';
import { withPostgres } from '#test/kit/templates.ts';

const greet = defineJob({
  name: 'greet',
  queue: 'paging',
  payload: Type.Object({ who: Type.String() }),
  key: null,
  attempts: 3,
  backoff: { firstDelayMs: 1, maxDelayMs: 5 },
});
const tidy: typeof greet = { ...greet, name: 'tidy', queue: 'upkeep' };
const greetOnce: typeof greet = { ...greet, name: 'greet_once', key: ({ who }) => who };

const backends = [
  { name: 'PostgreSQL', isAvailable: true, redisUrl: () => undefined },
  { name: 'Redis', isAvailable: inject('redisUrl') !== null, redisUrl: () => inject('redisUrl') ?? undefined },
];

// The gate tries Redis where there is one: durable jobs are tried on PostgreSQL.
describe.each(sweep(backends.filter(({ isAvailable }) => isAvailable).toReversed(), 2))(
  'the queue on $name',
  ({ redisUrl }) => {
    interface Line {
      readonly queue: JobQueue;
      /** The jobs of a queue, as BullMQ sees them. */
      list(name: QueueName): Promise<readonly Job[]>;
      /** Its worker died so often. */
      setStalls(name: QueueName, stalls: number): Promise<void>;
      /** Starts workers; resolves each time `count` runs have been seen. */
      consume(
        jobs: JobContract | readonly JobContract[],
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
        async list(of) {
          const { options, backend, close } = connectQueue(address, { durable: true, poolMax: 1 });
          const own = new Queue(`${name}-${of}`, options, backend as never);
          onTestFinished(async () => {
            await own.close();
            await close();
          });
          return await own.getJobs();
        },
        async setStalls(of, stalls) {
          const { redisUrl } = address;
          if (redisUrl === undefined) await setStallsInPostgres(databaseUrl, `${name}-${of}`, stalls);
          else await setStallsInRedis(redisUrl, `${name}-${of}`, stalls);
        },
        consume(jobs, run, closeWithinMs = 10_000) {
          const handlers = [jobs]
            .flat()
            .map((job) => handleJob(job as typeof greet, ({ who }, { attempt }) => run(who, attempt)));
          const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
          const workers = startJobWorkers(connect, handlers, silentLog, { prefix: name, closeWithinMs });
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

    test('a job that yields runs after others that come later, also after it has failed', async () => {
      const { queue, consume } = await line();
      const mailing = { ...tidy, name: 'mailing', yields: true };
      const seen: string[] = [];
      const readers = Array.from({ length: 20 }, (_, nth) => pending(mailing, { who: `reader ${nth}` }));
      await queue.add(readers);
      await queue.add([pending(tidy, { who: 'Anna' }), pending(tidy, { who: 'Bram' })]);
      expect((await queue.depths()).upkeep).toEqual({ ready: 22, delayed: 0 });
      consume([mailing, tidy], async (who, attempt) => {
        if (who === 'reader 3' && attempt === 1) throw new Error('not today');
        seen.push(who);
      });
      await expect.poll(() => seen.length).toBe(22);
      expect(seen.slice(0, 2).toSorted()).toEqual(['Anna', 'Bram']);
      expect(seen).toContain('reader 3');
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

    test('jobs of an unknown kind or with a newer payload are left to a newer worker, and no attempt is counted', async () => {
      const { queue, list, consume } = await line();
      const newer = { ...greet, version: 2 };
      const seen: string[] = [];
      const older = consume(greet, async (who) => void seen.push(who));
      const left = [pending(greetOnce, { who: 'unknown' }), pending(newer, { who: 'newer' })];
      await queue.add([...left, pending(greet, { who: 'old' })]);
      await expect.poll(() => seen).toEqual(['old']);
      await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 2 });
      await older.close();
      for (const job of await list('paging')) if (await job.isDelayed()) await job.promote();
      const attempts: Record<string, number> = {};
      consume([greetOnce, newer], async (who, attempt) => void (attempts[who] = attempt));
      await expect.poll(() => attempts).toEqual({ unknown: 1, newer: 1 });
    });

    test('a job over which workers died twice is quarantined for hours, and a page never is', async () => {
      const { queue, list, setStalls, consume } = await line();
      const seen: string[] = [];
      await queue.add([pending(tidy, { who: 'deadly' }), pending(greet, { who: 'Anna' })]);
      for (const name of ['upkeep', 'paging'] as const) await setStalls(name, 2);
      const workers = [tidy, greet].map((job) => consume(job, async (who) => void seen.push(who)));
      await expect.poll(async () => (await queue.depths()).upkeep).toEqual({ ready: 0, delayed: 1 });
      await expect.poll(() => seen).toEqual(['Anna']);
      const [later] = await list('upkeep');
      expect(later!.delay / 3_600_000).toBeCloseTo(6, 1);
      await Promise.all(workers.map((worker) => worker.close()));

      // It runs when it comes back.
      await later!.promote();
      const { promise: never } = Promise.withResolvers<void>();
      const stuck = consume(tidy, async (who) => (seen.push(who), await never), 50);
      await expect.poll(() => seen).toEqual(['Anna', 'deadly']);
      await stuck.close();
      expect(await list('upkeep'), 'a stop in good order is no death').toMatchObject([{ progress: 2 }]);
    });

    test('a delayed job waits for its time and is counted as delayed', async () => {
      const { queue, consume } = await line();
      const seen: string[] = [];
      consume(greet, async (who) => void seen.push(who));
      await queue.add([pending(greet, { who: 'later' }, 3_600_000), pending(greet, { who: 'soon' }, 50)]);
      await expect.poll(() => seen).toEqual(['soon']);
      await expect.poll(async () => (await queue.depths()).paging).toEqual({ ready: 0, delayed: 1 });
    });

    const lets = async (): Promise<string[]> => {
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
      return events;
    };
    /** Takes as long as the lock of a job lasts. */
    const givesUp = async (): Promise<string[]> => {
      const { queue, consume } = await line();
      const { promise: never } = Promise.withResolvers<void>();
      const began: string[] = [];
      const stuck = consume(greet, async (who) => (began.push(`${who}, in vain`), await never), 50);
      await queue.add([pending(greet, { who: 'Anna' })]);
      await expect.poll(() => began).toEqual(['Anna, in vain']);
      await stuck.close();
      consume(greet, async (who) => void began.push(who));
      await expect.poll(() => began).toHaveLength(2);
      return began;
    };
    test.each(
      sweep(
        [
          ['lets what runs finish', lets, ['began', 'ended', 'closed']],
          ['waits for what never ends only so long, and another runs it', givesUp, ['Anna, in vain', 'Anna']],
        ] as const,
        2,
      ),
    )('closing the workers %s', async (_, closes, told) => {
      expect(await closes()).toEqual(told);
    });
  },
);

async function setStallsInPostgres(url: string, queue: string, stalls: number): Promise<void> {
  const sql = 'update bullmq.job set stalled_count = $1 where queue = $2';
  await withPostgres(url, (client) => client.query(sql, [stalls, queue]));
}

async function setStallsInRedis(url: string, queue: string, stalls: number): Promise<void> {
  const redis = new Redis(url);
  const [id] = await redis.lrange(`bull:${queue}:wait`, 0, -1);
  await redis.hset(`bull:${queue}:${id}`, 'stc', stalls);
  redis.disconnect();
}
