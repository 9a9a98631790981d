import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';

import { findJob } from '#jobs/registry.ts';
import { newId } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type KeptJob, KeptJobStore } from '#storage/postgres/kept_job_store.ts';
import type { JobQueue, PendingJob } from '#storage/queue/job_queue.ts';
import type { JobHandler } from '#storage/queue/job_workers.ts';

/** What the queue holds of a kept job: where its payload is. */
const Reference = Type.Object({ keptId: Type.String() });

/** So young a job is on its way or runs. */
const GRACE_MS = 3_000;
const BATCH = 500;
/** A queue that is away answers none of them; further jobs are left to the sweep at once. */
const UNANSWERED_MAX = 1_000;
const CLOSE_PATIENCE_MS = 1_000;

/** A queue that loses no kept job, even when its store does. */
export interface KeepingQueue extends JobQueue {
  /**
   * Brings some of those kept jobs back to the queue that have not run for seconds, each call the next ones. One that
   * the queue still has is not doubled.
   */
  addForgotten(): Promise<void>;
  /** What kept jobs take, in bytes: never less, and exact from `bytesOfInterest` on. */
  keptBytes(bytesOfInterest: number): Promise<number>;
}

/**
 * Keeps the payload of kept jobs in PostgreSQL, and puts into the queue only what wakes a worker: `add` returns once they
 * are there, whether or not the queue is.
 */
export function keepJobs(queue: JobQueue, db: Database, log: Log, graceMs = GRACE_MS): KeepingQueue {
  const store = new KeptJobStore(db.sql);
  const unanswered = new Set<Promise<void>>();
  let lastId = '';

  const wake = (jobs: readonly PendingJob[]): void => {
    if (unanswered.size >= UNANSWERED_MAX) return;
    const adding = queue
      .add(jobs)
      .catch((error: unknown) => log.warn({ err: error }, 'kept jobs could not be queued; the sweep brings them'))
      .finally(() => unanswered.delete(adding));
    unanswered.add(adding);
  };

  return {
    ...queue,
    async add(jobs) {
      for (const { job, payload } of jobs.filter(isKept)) {
        const kept = { id: newId('job'), jobName: job.name, payload };
        await store.insert(kept);
        wake(referTo(kept));
      }
      const others = jobs.filter((one) => !isKept(one));
      if (others.length > 0) await queue.add(others);
    },
    async addForgotten() {
      const forgotten = await store.listOlder(graceMs, lastId, BATCH);
      lastId = forgotten.length < BATCH ? '' : (forgotten.at(-1)?.id ?? '');
      const references = forgotten.flatMap(referTo);
      if (references.length > 0) await queue.add(references);
    },
    keptBytes: (bytesOfInterest) => store.bytes(bytesOfInterest),
    async close() {
      await Promise.race([Promise.all(unanswered), delay(CLOSE_PATIENCE_MS, undefined, { ref: false })]);
      await queue.close();
    },
  };
}

const isKept = ({ job }: PendingJob): boolean => job.isKept === true;

function referTo({ id, jobName }: Omit<KeptJob, 'payload'>): PendingJob[] {
  const job = findJob(jobName);
  return job === null ? [] : [{ id, job, payload: { keptId: id } satisfies Static<typeof Reference>, delayMs: 0 }];
}

/** Handlers that fetch what was kept, and let go of it once it has run. A job that comes again then does nothing. */
export function fetchKept(handlers: readonly JobHandler[], db: Database): JobHandler[] {
  const store = new KeptJobStore(db.sql);
  const remove = together((ids) => store.remove(ids));
  return handlers.map((handler): JobHandler => {
    if (handler.job.isKept !== true) return handler;
    return {
      job: handler.job,
      async run(reference, run) {
        const { keptId } = Parse(Reference, reference);
        const payload = await store.findPayload(keptId);
        if (payload === null) return;
        await handler.run(payload, run);
        await remove(keptId);
      },
    };
  });
}

/** Jobs that were stored together end together: what comes in the same turn of the event loop is done at once. */
function together(work: (ids: readonly string[]) => Promise<void>): (id: string) => Promise<void> {
  let waiting: string[] = [];
  let begun: Promise<void> | null = null;
  const begin = async (): Promise<void> => {
    await setImmediate();
    const ids = waiting;
    waiting = [];
    begun = null;
    await work(ids);
  };
  return (id) => {
    waiting.push(id);
    return (begun ??= begin());
  };
}
