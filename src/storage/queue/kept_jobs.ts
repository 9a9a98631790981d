import { findJob } from '#jobs/registry.ts';
import { newId } from '#kernel/ids.ts';
import type { JobContract, KeptJobContract } from '#kernel/job.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { withTimeout } from '#kernel/with_timeout.ts';
import type { Database } from '#storage/postgres/database.ts';
import { type KeptJob, KeptJobStore } from '#storage/postgres/kept_job_store.ts';
import type { JobQueue, PendingJob } from '#storage/queue/job_queue.ts';
import { WakeUps } from '#storage/queue/wake_ups.ts';

/** What has waited so long without being begun has lost its wake-up. */
const GRACE_MS = 3_000;
/** A queue that is away answers none of them; further wake-ups are left to the sweep at once. */
const UNANSWERED_MAX = 1_000;
const CLOSE_TIMEOUT_MS = 1_000;

/** The bytes of one job, and whose they are. */
export type JobToKeep = Omit<KeptJob, 'keptId'>;

/** A queue that loses no kept job, even when its store does. */
export interface KeepingQueue extends JobQueue {
  /** Returns once all the bytes are stored, whether or not the queue is there to wake a worker. Throws `unavailable`. */
  keep(job: KeptJobContract, jobs: readonly JobToKeep[]): Promise<void>;
  /** Wakes workers again for kept jobs that nobody has begun for seconds. */
  wakeForForgotten(): Promise<void>;
  /** What kept jobs take, in bytes: never less, and exact from `bytesOfInterest` on. */
  keptBytes(bytesOfInterest: number): Promise<number>;
}

interface KeepingOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly graceMs?: number;
}

/** Keeps the bytes of kept jobs in PostgreSQL, and puts into the queue only what wakes a worker. */
export function keepJobs(queue: JobQueue, { db, clock, log, graceMs = GRACE_MS }: KeepingOptions): KeepingQueue {
  const store = new KeptJobStore(db);
  const unanswered = new Set<Promise<void>>();

  const wakeUps = new WakeUps<KeptJobContract>((job) => {
    if (unanswered.size >= UNANSWERED_MAX) return;
    const adding = queue
      .add([wakeUpOf(job)])
      .catch((error: unknown) => log.warn({ err: error }, 'no worker could be woken; the sweep does it'))
      .finally(() => unanswered.delete(adding));
    unanswered.add(adding);
  });

  return {
    ...queue,
    async keep(job, jobs) {
      const kept = jobs.map((one) => ({ keptId: newId('job'), ...one }));
      await store.insert(job.name, kept, clock.now());
      wakeUps.ask(job);
    },
    async wakeForForgotten() {
      const jobs = (await store.listForgotten(graceMs)).flatMap((name) => findJob(name) ?? []);
      if (jobs.length > 0) await queue.add(jobs.map(wakeUpOf));
    },
    keptBytes: (bytesOfInterest) => store.bytes(bytesOfInterest),
    async close() {
      wakeUps.settle();
      await withTimeout(Promise.all(unanswered), CLOSE_TIMEOUT_MS, () => []);
      await queue.close();
    },
  };
}

/** The id in it is for workers of the release before; they find nothing under it, and the rest by their sweep. */
function wakeUpOf(job: JobContract): PendingJob {
  return { job, payload: { keptId: newId('job') }, delayMs: 0 };
}
