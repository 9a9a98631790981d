import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { groupExceptions, storePoints } from '#storage/queue/jobs.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { openDatabase } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { DurableJobStore } from '#storage/postgres/durable_job_store.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { WorkerStore } from '#storage/postgres/worker_store.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { type JobQueue, openJobQueue } from '#storage/queue/job_queue.ts';
import { CRASH_SCORE, startJobWorkers, SUSPECTS_MAX } from '#storage/queue/job_workers.ts';
import { type NewDurableJob, durableQueue } from '#storage/queue/durable_queue.ts';
import { runDurableJobs } from '#storage/queue/durable_job_runner.ts';
import { sweep } from '#test/kit/properties.ts';
import { type World, world } from '#test/kit/world.ts';

const AT_ONCE = { firstDelayMs: 1, maxDelayMs: 1 };
const ROOMY = { items: 1_000, itemsOfOrg: 1_000, jobs: 1_000 };
/** The work of workers tells nobody of its end. */
const OFTEN = { interval: 5 };

const backends = [
  { name: 'PostgreSQL', isAvailable: true, redisUrl: () => undefined },
  { name: 'Redis', isAvailable: inject('redisUrl') !== null, redisUrl: () => inject('redisUrl') ?? undefined },
];

// The gate tries the queue of an installation without Redis.
const available = backends.filter(({ isAvailable }) => isAvailable);
describe.each(sweep(available, 2))('a durable job on $name', ({ redisUrl }) => {
  async function place() {
    const w = await world();
    const prefix = `k_${randomBytes(6).toString('hex')}`;
    const address = { redisUrl: redisUrl(), databaseUrl: w.context.config.databaseUrl };
    const bare = openJobQueue(connectQueue(address, { durable: true, poolMax: 4 }), silentLog, prefix);
    const { db, clock } = w.context;
    const queue = durableQueue(bare, { db, clock, log: silentLog, graceMs: 0 });
    onTestFinished(() => queue.close());
    const keep = (...texts: readonly string[]) => queue.addDurable(groupExceptions, texts.map(jobOf));
    const seen: string[] = [];
    const consume = (
      run: (text: string, attempt: number) => Promise<void> = async () => {},
      capacity = ROOMY,
      closeWithinMs = 10_000,
    ) => {
      const durable = runDurableJobs(db, queue.wake);
      const handlers = [groupExceptions, storePoints].map((job) =>
        durable({
          job: { ...job, backoff: AT_ONCE },
          capacity,
          async run(bytes, { attempt }) {
            await run(bytes.toString(), attempt);
            seen.push(bytes.toString());
          },
        }),
      );
      const connect = (poolMax: number) => connectQueue(address, { durable: false, poolMax });
      const workers = startJobWorkers(connect, handlers, silentLog, { prefix, closeWithinMs });
      onTestFinished(() => workers.close());
      return workers;
    };
    const wipe = () => (address.redisUrl === undefined ? wipePostgres(w) : wipeRedis(address.redisUrl, prefix));
    return { w, queue, keep, bare, seen, consume, wipe };
  }

  test('runs with the bytes that it was given, and is deleted', async () => {
    const { w, queue, seen, consume } = await place();
    const given = [randomBytes(300_000), Buffer.alloc(0), Buffer.from([0, 255, 10, 13, 92])];
    await queue.addDurable(
      groupExceptions,
      given.map((bytes) => ({ ...jobOf(''), bytes })),
    );
    expect(await queue.durableBytes(0)).toBeGreaterThan(300_000);
    expect(await queue.durableBytes(1e12)).toBeGreaterThan(300_000);
    consume();
    await expect.poll(() => seen.toSorted(), OFTEN).toEqual(given.map(String).toSorted());
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
  });

  test('is given back by a worker that is told to stop and does not end it in time', async () => {
    const { w, keep, consume, seen } = await place();
    const { promise: never, resolve: end } = Promise.withResolvers<void>();
    let begun = 0;
    const stopping = consume(
      async () => {
        begun += 1;
        await never;
      },
      ROOMY,
      200,
    );
    await keep('slow', 'slower');
    await expect.poll(() => begun, OFTEN).toBe(2);
    await stopping.close();
    const ready = await w.context.db.sql.row(
      'select count(*)::int as n, sum(crash_score)::int as crash_score from durable_jobs where ready_at <= now()',
    );
    expect(ready).toEqual({ n: 2, crash_score: 0 });
    const attempts: number[] = [];
    consume(async (_text, attempt) => void attempts.push(attempt));
    await expect.poll(() => seen.toSorted(), OFTEN).toEqual(['slow', 'slower']);
    expect(attempts).toEqual([1, 1]);
    end();
  });

  test('over which workers died twice while it ran alone is quarantined, holds up nothing, and comes back after hours', async () => {
    const { w, keep, queue, seen, consume } = await place();
    await keep('deadly', 'beside');
    await dieOver(w, ['deadly', 'beside']);
    await dieOver(w, ['deadly'], CRASH_SCORE.ofAlone);
    await dieOver(w, ['deadly'], CRASH_SCORE.ofAlone);
    consume();
    await expect.poll(() => seen, OFTEN).toEqual(['beside']);
    const stores = storesOf(w.context.db.session());
    const quarantined = { jobName: 'group_exceptions', items: 1 };
    await expect.poll(() => stores.quarantinedJobs.list(10), OFTEN).toMatchObject([quarantined]);
    expect(await hoursAway(w)).toBeCloseTo(6, 1);
    expect(await stores.quarantinedJobs.summary('service_1')).toMatchObject({ jobs: 1, items: 1 });
    // Health waits for it no longer.
    await expect.poll(() => stores.durableJobs.listWaiting('group_exceptions'), OFTEN).toEqual(new Map());

    await stores.quarantinedJobs.retry(null);
    await dieOver(w, ['deadly'], CRASH_SCORE.ofAlone);
    await queue.requeueStale();
    await expect.poll(() => hoursAway(w), OFTEN).toBeCloseTo(6, 1);
    await stores.quarantinedJobs.retry(null);
    await queue.requeueStale();
    await expect.poll(() => seen, OFTEN).toEqual(['beside', 'deadly']);
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
  });

  test('over which a worker died runs beside no others than such, and alone once a group of them has died', async () => {
    const { w, keep, queue, seen, consume } = await place();
    const ofGroup = Array.from({ length: SUSPECTS_MAX + 8 }, (_, index) => `group ${index}`);
    const alone = ['alone 1', 'alone 2'];
    await keep(...ofGroup, ...alone, 'fresh');
    await queue.addDurable(storePoints, [jobOf('alone points'), jobOf('fresh points')]);
    await dieOver(w, [...ofGroup, ...alone, 'alone points']);
    await dieOver(w, [...alone, 'alone points']);
    const running = new Set<string>();
    const besides = new Set<string>();
    let most = 0;
    consume(async (text) => {
      running.add(text);
      most = Math.max(most, running.size);
      await w.context.db.sql.run('select pg_sleep(0.02)');
      const kinds = new Set([...running].map((one) => one.split(' ')[0] ?? ''));
      if (running.size > 1 && (kinds.has('alone') || (kinds.has('group') && kinds.size > 1)))
        besides.add([...running].join());
      running.delete(text);
    });
    await expect.poll(() => seen.length, OFTEN).toBe(ofGroup.length + 5);
    expect(besides).toEqual(new Set());
    expect(most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(SUSPECTS_MAX);
  });

  test('that ends while the database cannot be told is not taken for one over which a worker died', async () => {
    const { w, keep, consume } = await place();
    await w.context.db.sql.run(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`);
    await w.context.db.sql.run(`
      create trigger refuse before update on durable_jobs for each row when (new.attempts > old.attempts) execute function refuse()`);
    const { promise: gate, reject: fail } = Promise.withResolvers<void>();
    await keep('fails');
    consume(() => gate);
    const crashScore = () => w.context.db.sql.row(`select crash_score as n from durable_jobs`);
    await expect.poll(crashScore, OFTEN).toEqual({ n: 1 });
    fail(new Error('it fails'));
    await expect.poll(crashScore, OFTEN).toEqual({ n: 0 });
    await w.context.db.sql.run('drop function refuse cascade');
  });

  test('runs although the queue has lost its wake-up', async () => {
    const { w, queue, keep, bare, seen, consume, wipe } = await place();
    await keep('first', 'second');
    await expect.poll(async () => (await bare.depths()).ingest.ready, OFTEN).toBe(1);
    await wipe();
    expect((await bare.depths()).ingest.ready).toBe(0);
    await queue.requeueStale();
    expect((await bare.depths()).ingest.ready).toBe(1);
    consume();
    await expect.poll(() => seen.toSorted(), OFTEN).toEqual(['first', 'second']);
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
  });

  test('runs once, however many wake-ups and workers there are', async () => {
    const { w, queue, keep, bare, seen, consume } = await place();
    for (let i = 0; i < 20; i += 1) await keep(`${i} a`, `${i} b`);
    for (let i = 0; i < 3; i += 1) await queue.requeueStale();
    consume();
    consume();
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
    await expect.poll(async () => (await bare.depths()).ingest.ready, OFTEN).toBe(0);
    expect(seen).toHaveLength(40);
    expect(new Set(seen).size).toBe(40);
  });

  test('a job that fails stays until it has run, and others are deleted', async () => {
    const { w, keep, seen, consume } = await place();
    await keep('good', 'bad', 'better');
    const attempts: number[] = [];
    let keptAtLast: unknown[] = [];
    consume(async (text, attempt) => {
      if (text !== 'bad') return;
      attempts.push(attempt);
      if (attempt < 2) throw new Error('not yet');
      keptAtLast = await listKept(w);
    });
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
    expect(seen.toSorted()).toEqual(['bad', 'better', 'good']);
    expect(attempts).toEqual([1, 2]);
    expect(keptAtLast).not.toEqual([]);
  });

  test('that meets a store that is away has not failed, unless it does so again and again', async () => {
    const { w, keep, consume } = await place();
    await keep('text');
    const attempts: number[] = [];
    consume(async (_text, attempt) => {
      attempts.push(attempt);
      if (attempts.length <= 4) throw new AppError('unavailable', 'away');
    });
    await expect.poll(() => listKept(w), OFTEN).toEqual([]);
    expect(attempts).toEqual([1, 1, 1, 1, 2]);
  });

  test('the job of an organization that sends little does not wait for one that sends much', async () => {
    const { queue, keep, seen, consume } = await place();
    const flood = Array.from({ length: 100 }, (_, index) => ({ ...jobOf(`flood ${index}`), items: 10 }));
    await queue.addDurable(groupExceptions, flood);
    const gates: (() => void)[] = [];
    consume((text) => (text.startsWith('flood') ? new Promise((open) => gates.push(open)) : Promise.resolve()), {
      items: 100,
      itemsOfOrg: 50,
      jobs: 100,
    });
    await expect.poll(() => gates.length, OFTEN).toBe(5);
    await queue.addDurable(groupExceptions, [{ ...jobOf('page me'), orgId: 'org_2', serviceId: 'service_2' }]);
    await expect.poll(() => seen, OFTEN).toEqual(['page me']);
    expect(gates).toHaveLength(5);
    await keep('another of the flood');
    const openGates = () => {
      gates.splice(0).forEach((open) => open());
      return seen.length;
    };
    await expect.poll(openGates, OFTEN).toBe(102);
  });

  test('does not wait for jobs of another kind that come without end, however often these wake the worker', async () => {
    const { queue, keep, bare, seen, consume } = await place();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    consume(async (text) => (text === 'exceptions' ? await gate : undefined));
    await keep('exceptions');
    for (let i = 0; i < 20; i += 1) {
      await bare.add([{ job: groupExceptions, payload: {}, delayMs: 0 }]);
    }
    await queue.addDurable(storePoints, [jobOf('points')]);
    await expect.poll(() => seen, OFTEN).toEqual(['points']);
    open();
    await expect.poll(() => seen, OFTEN).toEqual(['points', 'exceptions']);
  });

  test('a running job may end before the worker stops, and others are left to other workers', async () => {
    const { w, keep, seen, consume } = await place();
    await keep('first', 'second', 'third');
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const workers = consume(
      async () => {
        begin();
        await gate;
      },
      { ...ROOMY, jobs: 1 },
    );
    await begun;
    const closed = workers.close();
    open();
    await closed;
    expect(seen).toEqual(['first']);
    expect(await listKept(w)).toHaveLength(2);
  });
});

test('a job whose worker died is run by another once the lease has ended; only a failure counts as an attempt', async () => {
  const w = await world();
  const store = new DurableJobStore(w.context.db.session());
  await store.insert('group_exceptions', [{ ...jobOf('text'), jobId: 'job_1' }], w.clock.now());
  const place = { jobId: 'job_1' };
  const claim = () => store.claim([place], { leaseMs: 60_000, raised: CRASH_SCORE.ofMany, holder: 'first' });
  expect(await claim()).toMatchObject([{ attempt: 1 }]);
  expect(await store.listReady('group_exceptions', 10)).toEqual([]);
  expect(await claim()).toEqual([]);
  await store.extend([place], 0);
  expect(await store.listReady('group_exceptions', 10)).toMatchObject([place]);
  expect(await claim()).toMatchObject([{ attempt: 1 }]);
  await store.putBack({ ...place, raised: CRASH_SCORE.ofMany }, 0, { isAttempt: true });
  expect(await claim()).toMatchObject([{ attempt: 2, bytes: Buffer.from('text') }]);
});

test('what a frozen worker has begun is free once it is silent for two seconds, and what a living one has is not', async () => {
  const w = await world();
  const { clock } = w;
  const { db } = w.context;
  const store = new DurableJobStore(db.session());
  const workers = new WorkerStore(db.session());
  const now = clock.now();
  for (const member of ['frozen', 'living']) {
    await workers.renew({ works: ['worker'], left: [] }, member, { now, aliveUntil: now.add({ seconds: 2 }) });
    await store.insert('group_exceptions', [{ ...jobOf(member), jobId: `job_${member}` }], now);
    await store.claim([{ jobId: `job_${member}` }], { leaseMs: 9_000, raised: CRASH_SCORE.ofMany, holder: member });
    await new LeaseStore(db.session()).take(member, member, { now, notSince: now, heldUntil: now.add({ seconds: 9 }) });
  }
  clock.advance({ seconds: 1 });
  const later = clock.now();
  await workers.renew({ works: ['worker'], left: [] }, 'living', { now: later, aliveUntil: later.add({ seconds: 2 }) });
  await workers.freeLapsed('worker', clock.now());
  expect(await store.listReady('group_exceptions', 10)).toEqual([]);
  clock.advance({ seconds: 1 });
  await workers.freeLapsed('worker', clock.now());
  expect(await store.listReady('group_exceptions', 10)).toMatchObject([{ jobId: 'job_frozen', crashScore: 1 }]);
  const works = ['frozen', 'living'].map((name) => ({ name, notSince: clock.now() }));
  expect(await new LeaseStore(db.session()).listDue(works, clock.now())).toEqual(['frozen']);
});

test('the oldest job of every service may be next, however many jobs others have', async () => {
  const w = await world();
  await w.context.db.sql.run(
    `insert into durable_jobs (job_id, job_name, payload, org_id, service_id, items)
     select 'job_' || to_char(n, 'FM00000'), 'group_exceptions', '', 'org_' || least(n / 1000, 3), 'service_' || n % 100, 1
     from generate_series(0, 3001) n`,
  );
  const ready = await new DurableJobStore(w.context.db.session()).listReady('group_exceptions', 400);
  expect(ready).toHaveLength(400);
  expect(new Set(ready.map(({ serviceId }) => serviceId)).size).toBe(100);
  expect(ready.filter(({ orgId }) => orgId === 'org_3')).toHaveLength(2);
});

test('jobs are stored whether or not the queue answers, and refused while PostgreSQL does not', async () => {
  const w = await world();
  const { db, clock } = w.context;
  const away = (): Promise<never> => Promise.reject(new AppError('unavailable', 'away'));
  const queue: JobQueue = { ...w.context.queue, add: away };
  const jobs = [jobOf('something')];
  await durableQueue(queue, { db, clock, log: silentLog }).addDurable(groupExceptions, jobs);
  const hanging: JobQueue = { ...queue, add: () => new Promise(() => {}) };
  await durableQueue(hanging, { db, clock, log: silentLog }).addDurable(groupExceptions, jobs);
  expect(await listKept(w)).toHaveLength(2);
  const broken = await openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
  onTestFinished(() => broken.close());
  await expect(
    durableQueue(queue, { db: broken, clock, log: silentLog }).addDurable(groupExceptions, jobs),
  ).rejects.toMatchObject({ code: 'unavailable' });
});

function jobOf(text: string): NewDurableJob {
  return { orgId: 'org_1', serviceId: 'service_1', items: 1, bytes: Buffer.from(text) };
}

/** A worker begins them, and is not heard of any more. */
async function dieOver(
  { context }: World,
  texts: readonly string[],
  raised: number = CRASH_SCORE.ofMany,
): Promise<void> {
  const begun = await context.db.sql.rows<{ jobId: string; number: number }>(
    `select job_id as "jobId" from durable_jobs where convert_from(payload, 'UTF8') = any($1)`,
    [texts],
  );
  expect(
    await new DurableJobStore(context.db.session()).claim(begun, { leaseMs: 0, raised, holder: 'dead' }),
  ).toHaveLength(texts.length);
}

/** Returns the hours until the only job is tried again. */
async function hoursAway({ context }: World): Promise<number> {
  const row = await context.db.sql.row<{ hours: number }>(
    'select extract(epoch from ready_at - now())::float8 / 3600 as hours from durable_jobs',
  );
  return row?.hours ?? 0;
}

async function listKept({ context }: World): Promise<unknown[]> {
  return await context.db.sql.rows('select job_id from durable_jobs');
}

async function wipePostgres({ context }: World): Promise<void> {
  await context.db.sql.run('truncate bullmq.job cascade');
}

async function wipeRedis(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  const keys = await redis.keys(`*${prefix}*`);
  await redis.del(keys);
  redis.disconnect();
}
