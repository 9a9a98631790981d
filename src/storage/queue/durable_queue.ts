import { sql } from 'kysely';

import { findJob, JOBS } from '#storage/queue/jobs.ts';
import { newId } from '#kernel/ids.ts';
import type { DurableJobContract, JobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { withTimeout } from '#kernel/promises.ts';
import type { Database, Session } from '#storage/postgres/database.ts';
import { type DurableJob, DurableJobStore } from '#storage/postgres/durable_job_store.ts';
import type { JobQueue, PendingJob } from '#storage/queue/job_queue.ts';

type Wake<Name> = (name: Name) => void;

/** The shortest time between two wake-ups of one name. Each costs the queue as much as a job. */
const INTERVAL_MS = 100;

/** Wakes workers at once when there is little to do, and at intervals when there is much: each time they take all there is. */
export class WakeUpCoalescer<Name> {
  readonly #wake: Wake<Name>;
  readonly #intervalMs: number;
  readonly #lastAt = new Map<Name, number>();
  readonly #waiting = new Map<Name, NodeJS.Timeout>();

  constructor(wake: Wake<Name>, intervalMs: number = INTERVAL_MS) {
    this.#wake = wake;
    this.#intervalMs = intervalMs;
  }

  request(name: Name): void {
    if (this.#waiting.has(name)) return;
    const sinceLastMs = performance.now() - (this.#lastAt.get(name) ?? -Infinity);
    if (sinceLastMs >= this.#intervalMs) this.#wakeNow(name);
    else this.#waiting.set(name, setTimeout(() => this.#wakeNow(name), this.#intervalMs - sinceLastMs).unref());
  }

  /** Wakes at once for every request that waits. */
  flush(): void {
    for (const name of this.#waiting.keys()) this.#wakeNow(name);
  }

  #wakeNow(name: Name): void {
    clearTimeout(this.#waiting.get(name));
    this.#waiting.delete(name);
    this.#lastAt.set(name, performance.now());
    this.#wake(name);
  }
}

/** A job that nobody has begun for so long has lost its wake-up. */
const GRACE_MS = 3_000;
/** While the queue does not answer, no more wake-ups than this wait for it; the sweep does the rest. */
const UNANSWERED_MAX = 1_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** The bytes of one job, and whose they are. */
export type NewDurableJob = Omit<DurableJob, 'jobId'>;

/** A queue that loses no durable job, even when its store loses everything. */
export interface DurableQueue extends JobQueue {
  /** Returns once all the bytes are stored, whether or not the queue is there to wake a worker. Throws `unavailable`. */
  addDurable(job: DurableJobContract, jobs: readonly NewDurableJob[]): Promise<void>;
  /** Throws `unavailable` while no durable job can be stored. Unlike `ping`, it does not ask what wakes the workers. */
  pingStore(): Promise<void>;
  /** Wakes a worker that looks for jobs of this kind. */
  wake(job: DurableJobContract): void;
  /** Wakes workers again for durable jobs that nobody has begun for seconds. */
  requeueStale(): Promise<void>;
  /** The size of all durable jobs in bytes: never too low, and exact from `bytesOfInterest` on. */
  durableBytes(bytesOfInterest: number): Promise<number>;
}

interface DurableQueueOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly graceMs?: number;
}

/** Stores the bytes of durable jobs in PostgreSQL, and adds to the queue only what wakes a worker. */
export function durableQueue(
  queue: JobQueue,
  { db, clock, log, graceMs = GRACE_MS }: DurableQueueOptions,
): DurableQueue {
  const store = new DurableJobStore(db.session());
  const unanswered = new Set<Promise<void>>();

  const wakeUps = new WakeUpCoalescer<DurableJobContract>((job) => {
    if (unanswered.size >= UNANSWERED_MAX) return;
    const adding = queue
      .add([wakeUpOf(job)])
      .catch((error: unknown) => log.warn({ err: error }, 'failed to wake a worker; the sweep wakes one'))
      .finally(() => unanswered.delete(adding));
    unanswered.add(adding);
  });

  return {
    ...queue,
    async addDurable(job, jobs) {
      const stored = jobs.map((job) => ({ jobId: newId('job'), ...job }));
      const sentAt = performance.now();
      const watchedForMs = await store.insert(job.name, stored, clock.now());
      // A worker that looks by itself at least until now sees them.
      if (sentAt + watchedForMs <= performance.now()) wakeUps.request(job);
    },
    pingStore: () => store.ping(),
    wake: (job) => wakeUps.request(job),
    async requeueStale() {
      const names = JOBS.map(({ name }) => name);
      const jobs = (await store.listOverdue(names, graceMs)).flatMap((name) => findJob(name) ?? []);
      if (jobs.length > 0) await queue.add(jobs.map(wakeUpOf));
    },
    durableBytes: (bytesOfInterest) => durableJobBytes(db.session(), bytesOfInterest),
    async close() {
      wakeUps.flush();
      await withTimeout(Promise.all(unanswered), CLOSE_TIMEOUT_MS, () => []);
      await queue.close();
    },
  };
}

function wakeUpOf(job: JobContract): PendingJob {
  return { job, payload: {}, delayMs: 0 };
}

/**
 * The size of all durable jobs in bytes: never too low, and exact from `bytesOfInterest` on. Adding up takes long when there
 * are many, and the size of the table, which costs nothing, is no lower.
 */
async function durableJobBytes({ db }: Pick<Session, 'db'>, bytesOfInterest: number): Promise<number> {
  const table = await db
    .selectNoFrom(({ fn }) => fn<number>('pg_total_relation_size', [sql.lit('durable_jobs')]).as('bytes'))
    .executeTakeFirstOrThrow();
  if (table.bytes < bytesOfInterest) return table.bytes;
  const jobs = await db
    .selectFrom('durable_jobs')
    .select(({ fn, cast }) =>
      cast<number | null>(fn.sum(fn<number>('pg_column_size', ['payload'])), 'bigint').as('bytes'),
    )
    .executeTakeFirstOrThrow();
  return jobs.bytes ?? 0;
}
