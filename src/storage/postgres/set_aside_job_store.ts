import { sql } from 'kysely';

import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, rowsChanged } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { type DurableJobKey, keyRows } from '#storage/postgres/new_durable_job.ts';
import { DurableJobEntity } from '#storage/postgres/entities/jobs.ts';

const LISTED = ['keptId', 'jobName', 'serviceId', 'items', 'setAsideAt', 'readyAt'] as const;

export type SetAsideJob = Pick<Row<typeof DurableJobEntity>, (typeof LISTED)[number]>;

/** Points and events in jobs that are set aside. */
export interface SetAsideJobs {
  readonly jobs: number;
  readonly items: number;
  readonly since: Temporal.Instant | null;
  readonly nextTryAt: Temporal.Instant | null;
}

/** Durable jobs over which workers have died; they are not ready until they are tried again. */
export class SetAsideJobStore {
  readonly #session: Pick<Session, 'db'>;

  constructor(session: Pick<Session, 'db'>) {
    this.#session = session;
  }

  /** Nobody begins them for so long. Then each is as suspicious as it is said here. */
  async add(keys: readonly DurableJobKey[], forMs: number, suspicion: number): Promise<void> {
    await this.#session.db
      .updateTable('kept_jobs as k')
      .from(keyRows(keys))
      .whereRef('k.kept_id', '=', 'p.kept_id')
      .whereRef('k.number', '=', 'p.number')
      .set(({ fn, ref }) => ({
        ready_at: sql<Temporal.Instant>`now() + ${forMs} * interval '1 millisecond'`,
        suspicion,
        set_aside_at: fn.coalesce(ref('k.set_aside_at'), sql<Temporal.Instant>`now()`),
      }))
      .execute();
  }

  /** The oldest first. */
  async list(limit: number): Promise<SetAsideJob[]> {
    return await this.#session.db
      .selectFrom('kept_jobs as k')
      .select(columns(DurableJobEntity, 'k', LISTED))
      .where('k.set_aside_at', 'is not', null)
      .orderBy('k.set_aside_at')
      .orderBy('k.kept_id')
      .limit(limit)
      .execute();
  }

  /** Summarizes jobs of one service, or of all if null. */
  async summary(serviceId: string | null): Promise<SetAsideJobs> {
    return await this.#session.db
      .selectFrom('kept_jobs')
      .select(({ fn, cast, val }) => [
        fn.countAll<number>().as('jobs'),
        cast<number>(fn.coalesce(fn.sum('items'), val(0)), 'bigint').as('items'),
        fn.min('set_aside_at').as('since'),
        fn.min('ready_at').as('nextTryAt'),
      ])
      .where('set_aside_at', 'is not', null)
      .$if(serviceId !== null, (query) => query.where('service_id', '=', serviceId ?? ''))
      .executeTakeFirstOrThrow();
  }

  /** Makes them ready. Null is all of them. Returns how many. */
  async retry(id: string | null): Promise<number> {
    const changed = await this.#session.db
      .updateTable('kept_jobs')
      .set({ ready_at: sql<Temporal.Instant>`now()` })
      .where('set_aside_at', 'is not', null)
      .$if(id !== null, (query) => query.where('kept_id', '=', id ?? ''))
      .execute();
    return rowsChanged(changed);
  }

  async removeBefore(setAsideAt: Temporal.Instant): Promise<readonly SetAsideJob[]> {
    return await this.#session.db
      .deleteFrom('kept_jobs as k')
      .where('k.set_aside_at', '<', setAsideAt)
      .returning(columns(DurableJobEntity, 'k', LISTED))
      .execute();
  }
}
