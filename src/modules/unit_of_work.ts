import type { Static, TObject } from 'typebox';

import { type JobContract, toStored } from '#kernel/job.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';
import type { LimitName } from '#kernel/limit_settings.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { Database, Session } from '#storage/postgres/database.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

/** One transaction: what is done through it commits together, and the jobs it asks for run only after the commit. */
export interface UnitOfWork {
  readonly now: Temporal.Instant;
  readonly stores: Stores;
  /** Enqueues a job once the transaction has committed, at `runAt` or at once. */
  enqueue<Payload extends TObject>(job: JobContract<Payload>, payload: Static<Payload>, runAt?: Temporal.Instant): void;
  /** Counts that somebody has reached a limit; `who` is never a secret. */
  limitReached(limit: LimitName, who: string): void;
}

export interface UnitOfWorkRuntime {
  readonly db: Database;
  readonly clock: Clock;
  /** Called after a commit that left jobs in the outbox. */
  readonly onOutbox: () => void;
  /** Undefined where nobody counts, as on the command line. */
  readonly reachedLimits?: Pick<ReachedLimits, 'record'>;
}

export async function inUnitOfWork<Result>(
  runtime: UnitOfWorkRuntime,
  work: (unit: UnitOfWork, session: Session) => Promise<Result>,
): Promise<Result> {
  const now = runtime.clock.now();
  const { result, hasJobs } = await runtime.db.transaction(async (session) => {
    const stores = storesOf(session);
    const jobs: { jobName: string; payload: unknown; runAt: Temporal.Instant | null }[] = [];
    const unit: UnitOfWork = {
      now,
      stores,
      limitReached: (limit, who) => runtime.reachedLimits?.record(limit, who),
      enqueue: (job, payload, runAt) => {
        jobs.push({ jobName: job.name, payload: toStored(job, payload), runAt: runAt ?? null });
      },
    };
    const result = await work(unit, session);
    await stores.outbox.insert(jobs, now);
    return { result, hasJobs: jobs.length > 0 };
  });
  if (hasJobs) runtime.onOutbox();
  return result;
}
