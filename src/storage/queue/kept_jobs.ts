import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { findJob } from '#jobs/registry.ts';
import type { KeptJobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type KeptJob, KeptJobStore, type KeptPlace } from '#storage/postgres/kept_job_store.ts';
import { type JobQueue, pending, type PendingJob } from '#storage/queue/job_queue.ts';
import { handleJob, type JobHandler, type JobRun } from '#storage/queue/job_workers.ts';
import { Wakings } from '#storage/queue/wakings.ts';

/** So young a job is on its way or runs. */
const GRACE_MS = 3_000;
const BATCH = 500;
/** A queue that is away answers none of them; further jobs are left to the sweep at once. */
const UNANSWERED_MAX = 1_000;
const CLOSE_PATIENCE_MS = 1_000;

/** A queue that loses no kept job, even when its store does. */
export interface KeepingQueue extends JobQueue {
  /** Returns once the bytes are stored, whether or not the queue is there to wake a worker. Throws `unavailable`. */
  keep(job: KeptJobContract, bytes: Uint8Array): Promise<void>;
  /**
   * Brings some of those kept jobs back to the queue that have not run for seconds, each call the next ones. One that
   * the queue still has is not doubled.
   */
  addForgotten(): Promise<void>;
  /** What kept jobs take, in bytes: never less, and exact from `bytesOfInterest` on. */
  keptBytes(bytesOfInterest: number): Promise<number>;
}

/** Keeps the bytes of kept jobs in PostgreSQL, and puts into the queue only what wakes a worker. */
export function keepJobs(queue: JobQueue, db: Database, log: Log, graceMs = GRACE_MS): KeepingQueue {
  const store = new KeptJobStore(db.sql);
  const unanswered = new Set<Promise<void>>();
  let lastId = '';

  const wake = (job: KeptJobContract, keptId: string): void => {
    if (unanswered.size >= UNANSWERED_MAX) return;
    const adding = queue
      .add([referTo(job, keptId)])
      .catch((error: unknown) => log.warn({ err: error }, 'kept jobs could not be queued; the sweep brings them'))
      .finally(() => unanswered.delete(adding));
    unanswered.add(adding);
  };
  const wakings = new Wakings(wake);

  return {
    ...queue,
    async keep(job, bytes) {
      await wakings.join(job, bytes.length, (place) => store.insert({ ...place, jobName: job.name, bytes }));
    },
    async addForgotten() {
      const forgotten = await store.listOlder(graceMs, lastId, BATCH);
      lastId = forgotten.length < BATCH ? '' : (forgotten.at(-1)?.keptId ?? '');
      const references = forgotten.flatMap(referToForgotten);
      if (references.length > 0) await queue.add(references);
    },
    keptBytes: (bytesOfInterest) => store.bytes(bytesOfInterest),
    async close() {
      wakings.settle();
      await Promise.race([Promise.all(unanswered), delay(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
      await queue.close();
    },
  };
}

function referTo(job: KeptJobContract, keptId: string): PendingJob {
  return { ...pending(job, { keptId }), id: keptId };
}

function referToForgotten({ jobName, keptId }: Pick<KeptJob, 'jobName' | 'keptId'>): PendingJob[] {
  const job = findJob(jobName);
  return job === null ? [] : [{ id: keptId, job, payload: { keptId }, delayMs: 0 }];
}

/** What is done for a kept job. Runs safely twice. */
export interface KeptHandler {
  readonly job: KeptJobContract;
  run(bytes: Buffer, run: JobRun): Promise<void>;
}

/** Makes handlers fetch what was kept, and let go of it once it has run. What comes again then does nothing. */
export function fetchKept(db: Database): (handler: KeptHandler) => JobHandler {
  const store = new KeptJobStore(db.sql);
  const remove = together((places: readonly KeptPlace[]) => store.remove(places));
  return (handler) =>
    handleJob(handler.job, async ({ keptId }, run) => {
      const kept = await store.find(keptId);
      const results = await Promise.allSettled(kept.map(({ bytes }) => handler.run(bytes, run)));
      const done = kept.filter((_, index) => results[index]?.status === 'fulfilled');
      if (done.length > 0) await remove(done);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    });
}

/** Jobs that were stored together end together: what comes in the same turn of the event loop is done at once. */
function together<Item>(work: (items: readonly Item[]) => Promise<void>): (items: readonly Item[]) => Promise<void> {
  let waiting: Item[] = [];
  let begun: Promise<void> | null = null;
  const begin = async (): Promise<void> => {
    await setImmediate();
    const items = waiting;
    waiting = [];
    begun = null;
    await work(items);
  };
  return (items) => {
    waiting.push(...items);
    return (begun ??= begin());
  };
}
