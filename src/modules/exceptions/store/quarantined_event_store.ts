import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, rowsChanged } from '#storage/postgres/store.ts';
import { QuarantinedEventsEntity } from '#storage/postgres/entities/exceptions.ts';

/** Events of one service that are quarantined together. The id says what they are: the same events are quarantined once. */
export type QuarantinedEvents = Omit<Row<typeof QuarantinedEventsEntity>, 'tries' | 'payload'> & {
  /** Bytes in the form that a job holds. */
  readonly payload: Uint8Array;
};

export interface QuarantineSummary {
  readonly events: number;
  readonly since: Temporal.Instant | null;
  readonly nextTryAt: Temporal.Instant | null;
}

const LISTED = ['id', 'serviceId', 'events', 'tries', 'quarantinedAt', 'dueAt'] as const;

export type QuarantinedRow = Pick<Row<typeof QuarantinedEventsEntity>, (typeof LISTED)[number]>;

/** A sender of nothing else cannot fill the database: of more than these of one service the oldest are removed. */
const ROWS_OF_SERVICE_MAX = 200;

/** Events that could not be read in time; see the job group_exceptions. */
export class QuarantinedEventStore extends PostgresStore {
  /** Adds rows; those of services that are gone are left out. */
  async add(rows: readonly QuarantinedEvents[]): Promise<void> {
    const { db } = this;
    for (const { id, serviceId, events, payload, quarantinedAt, dueAt } of rows) {
      await db
        .insertInto('quarantined_events')
        .columns(['id', 'service_id', 'events', 'payload', 'quarantined_at', 'due_at'])
        .expression(({ selectFrom, val }) =>
          selectFrom('services as s')
            .select([
              sql<string>`${id}::text`.as('id'),
              's.id as service_id',
              sql<number>`${events}::integer`.as('events'),
              sql<Buffer>`${payload}::bytea`.as('payload'),
              sql<Temporal.Instant>`${val(quarantinedAt)}::timestamptz`.as('quarantined_at'),
              sql<Temporal.Instant>`${val(dueAt)}::timestamptz`.as('due_at'),
            ])
            .where('s.id', '=', serviceId)
            .where('s.deleted_at', 'is', null),
        )
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
      await db
        .deleteFrom('quarantined_events')
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('quarantined_events')
            .select('id')
            .where('service_id', '=', serviceId)
            .orderBy('quarantined_at', 'desc')
            .orderBy('id')
            .offset(ROWS_OF_SERVICE_MAX),
        )
        .execute();
    }
  }

  /**
   * The one that is due longest, but for those of `except`. It is due again at `nextAt`, so that a worker that dies over it
   * leaves it for later.
   */
  async takeDue(
    now: Temporal.Instant,
    nextAt: Temporal.Instant,
    except: readonly Id<'org'>[],
  ): Promise<(Row<typeof QuarantinedEventsEntity> & { readonly orgId: Id<'org'> }) | null> {
    const taken = await this.updateTable('quarantined_events as e')
      .from('services as s')
      .set(({ eb }) => ({ tries: eb('e.tries', '+', 1), due_at: nextAt }))
      .whereRef('s.id', '=', 'e.service_id')
      .where('e.id', '=', ({ selectFrom }) =>
        selectFrom('quarantined_events as d')
          .innerJoin('services as o', 'o.id', 'd.service_id')
          .select('d.id')
          .where('d.due_at', '<=', now)
          .where(({ not, eb }) => not(eb('o.org_id', '=', anyOf(except))))
          .orderBy('d.due_at')
          .limit(1)
          .forUpdate('d')
          .skipLocked(),
      )
      .returning(columns(QuarantinedEventsEntity, 'e'))
      .returning('s.org_id as orgId')
      .executeTakeFirst();
    return taken ?? null;
  }

  async remove(id: string): Promise<boolean> {
    const removed = await this.deleteFrom('quarantined_events').where('id', '=', id).execute();
    return rowsChanged(removed) > 0;
  }

  async removeBefore(quarantinedAt: Temporal.Instant): Promise<readonly QuarantinedRow[]> {
    return await this.deleteFrom('quarantined_events as e')
      .where('e.quarantined_at', '<', quarantinedAt)
      .returning(columns(QuarantinedEventsEntity, 'e', LISTED))
      .execute();
  }

  /** Makes them due now. Null is all of them. Returns how many. */
  async retry(id: string | null, now: Temporal.Instant): Promise<number> {
    const changed = await this.updateTable('quarantined_events')
      .set({ due_at: now })
      .$if(id !== null, (query) => query.where('id', '=', id))
      .execute();
    return rowsChanged(changed);
  }

  /** The oldest first. */
  async list(limit: number): Promise<QuarantinedRow[]> {
    return await this.selectFrom('quarantined_events as e')
      .select(columns(QuarantinedEventsEntity, 'e', LISTED))
      .orderBy('e.quarantined_at')
      .orderBy('e.id')
      .limit(limit)
      .execute();
  }

  /** Summarizes the events of one service, or of all if null. */
  async summary(serviceId: Id<'service'> | null): Promise<QuarantineSummary> {
    return await this.selectFrom('quarantined_events')
      .select(({ fn, cast, val }) => [
        cast<number>(fn.coalesce(fn.sum('events'), val(0)), 'integer').as('events'),
        fn.min('quarantined_at').as('since'),
        fn.min('due_at').as('nextTryAt'),
      ])
      .$if(serviceId !== null, (query) => query.where('service_id', '=', serviceId))
      .executeTakeFirstOrThrow();
  }
}
