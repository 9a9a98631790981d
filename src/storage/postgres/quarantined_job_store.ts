import { sql } from 'kysely';

import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, rowsChanged } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { type DurableJobKey, keyRows } from '#storage/postgres/new_durable_job.ts';
import { DurableJobEntity } from '#storage/postgres/entities/jobs.ts';

const LISTED = ['jobId', 'jobName', 'serviceId', 'items', 'quarantinedAt', 'readyAt'] as const;

export type QuarantinedJob = Pick<Row<typeof DurableJobEntity>, (typeof LISTED)[number]>;

/** Points and events in jobs that are quarantined. */
export interface QuarantinedJobs {
  readonly jobs: number;
  readonly items: number;
  readonly since: Temporal.Instant | null;
  readonly nextTryAt: Temporal.Instant | null;
}

/** Durable jobs over which workers have died; they are not ready until they are tried again. */
export class QuarantinedJobStore {
  readonly #session: Pick<Session, 'db'>;

  constructor(session: Pick<Session, 'db'>) {
    this.#session = session;
  }

  /** Quarantines jobs: no worker begins them for this time. Then each has this crash score. */
  async add(keys: readonly DurableJobKey[], forMs: number, crashScore: number): Promise<void> {
    await this.#session.db
      .updateTable('durable_jobs as k')
      .from(keyRows(keys))
      .whereRef('k.job_id', '=', 'p.job_id')
      .set(({ fn, ref }) => ({
        ready_at: sql<Temporal.Instant>`now() + ${forMs} * interval '1 millisecond'`,
        crash_score: crashScore,
        quarantined_at: fn.coalesce(ref('k.quarantined_at'), sql<Temporal.Instant>`now()`),
      }))
      .execute();
  }

  /** The oldest first. */
  async list(limit: number): Promise<QuarantinedJob[]> {
    return await this.#session.db
      .selectFrom('durable_jobs as k')
      .select(columns(DurableJobEntity, 'k', LISTED))
      .where('k.quarantined_at', 'is not', null)
      .orderBy('k.quarantined_at')
      .orderBy('k.job_id')
      .limit(limit)
      .execute();
  }

  /** Summarizes jobs of one service, or of all if null. */
  async summary(serviceId: string | null): Promise<QuarantinedJobs> {
    return await this.#session.db
      .selectFrom('durable_jobs')
      .select(({ fn, cast, val }) => [
        fn.countAll<number>().as('jobs'),
        cast<number>(fn.coalesce(fn.sum('items'), val(0)), 'bigint').as('items'),
        fn.min('quarantined_at').as('since'),
        fn.min('ready_at').as('nextTryAt'),
      ])
      .where('quarantined_at', 'is not', null)
      .$if(serviceId !== null, (query) => query.where('service_id', '=', serviceId ?? ''))
      .executeTakeFirstOrThrow();
  }

  /** Makes them ready. Null is all of them. Returns how many. */
  async retry(id: string | null): Promise<number> {
    const changed = await this.#session.db
      .updateTable('durable_jobs')
      .set({ ready_at: sql<Temporal.Instant>`now()` })
      .where('quarantined_at', 'is not', null)
      .$if(id !== null, (query) => query.where('job_id', '=', id ?? ''))
      .execute();
    return rowsChanged(changed);
  }

  async removeBefore(quarantinedAt: Temporal.Instant): Promise<readonly QuarantinedJob[]> {
    return await this.#session.db
      .deleteFrom('durable_jobs as k')
      .where('k.quarantined_at', '<', quarantinedAt)
      .returning(columns(DurableJobEntity, 'k', LISTED))
      .execute();
  }
}
