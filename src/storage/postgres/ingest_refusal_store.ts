import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, type Row, rowsOf } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { type IngestRefusalEntity, LIMITS_MET } from '#storage/postgres/entities/services.ts';

/** What was refused of a service for one reason within the hour that begins at `hour`. */
export type IngestRefusal = Row<typeof IngestRefusalEntity>;

type Refused = Pick<IngestRefusal, 'kind' | 'reason' | 'count' | 'lastAt'>;

/** The hour in which a refusal at this time is counted. */
export function refusalHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
}

/** How much ingestion refused of each service, and why. */
export class IngestRefusalStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds to the counts, all or nothing. Refusals of a service that is gone are left out. */
  async add(refusals: readonly IngestRefusal[]): Promise<void> {
    const added = rowsOf('added', {
      service_id: ['text', refusals.map(({ serviceId }) => serviceId)],
      kind: ['text', refusals.map(({ kind }) => kind)],
      reason: ['text', refusals.map(({ reason }) => reason)],
      hour: ['timestamptz', refusals.map(({ hour }) => hour)],
      count: ['bigint', refusals.map(({ count }) => count)],
      last_at: ['timestamptz', refusals.map(({ lastAt }) => lastAt)],
    });
    await this.#session.db
      .insertInto('ingest_refusals')
      .columns(['service_id', 'kind', 'reason', 'hour', 'count', 'last_at'])
      .expression(({ selectFrom }) =>
        selectFrom(added)
          .innerJoin('services as s', (join) =>
            join.onRef('s.id', '=', 'added.service_id').on('s.deleted_at', 'is', null),
          )
          .selectAll('added')
          // All processes lock rows in the same order.
          .orderBy('added.service_id')
          .orderBy('added.kind')
          .orderBy('added.reason')
          .orderBy('added.hour'),
      )
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'kind', 'reason', 'hour']).doUpdateSet((eb) => ({
          count: eb('ingest_refusals.count', '+', eb.ref('excluded.count')),
          last_at: eb.fn('greatest', ['ingest_refusals.last_at', 'excluded.last_at']),
        })),
      )
      .execute();
  }

  /** Most frequent first. Whole hours are counted: the first one is that in which `since` lies. */
  async listSince(serviceId: Id<'service'>, since: Temporal.Instant): Promise<Refused[]> {
    return await this.#session.db
      .selectFrom('ingest_refusals')
      .select(({ fn, cast }) => [
        'kind',
        'reason',
        cast<number>(fn.sum('count'), 'bigint').as('count'),
        fn.max('last_at').as('lastAt'),
      ])
      .where('service_id', '=', serviceId)
      .where('last_at', '>', since)
      .groupBy(['kind', 'reason'])
      .orderBy('count', 'desc')
      .orderBy('kind')
      .orderBy('reason')
      .execute();
  }

  /** How much was refused of each of the services; limits that were met without a loss are not counted. */
  async countOfServices(
    serviceIds: readonly Id<'service'>[],
    since: Temporal.Instant,
  ): Promise<Map<Id<'service'>, number>> {
    const rows = await this.#session.db
      .selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['service_id as serviceId', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('service_id', '=', anyOf(serviceIds))
      .where('last_at', '>', since)
      .where('reason', 'not in', [...LIMITS_MET])
      .groupBy('service_id')
      .execute();
    return new Map(rows.map(({ serviceId, count }) => [serviceId, count]));
  }

  /** Of all services, within the hour that begins at `hour`. */
  async countByReason(hour: Temporal.Instant): Promise<Map<string, number>> {
    const rows = await this.#session.db
      .selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['reason', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('hour', '=', hour)
      .groupBy('reason')
      .execute();
    return new Map(rows.map(({ reason, count }) => [reason, count]));
  }

  /** Removes the hours that began before. */
  async removeBefore(hour: Temporal.Instant): Promise<void> {
    await this.#session.db.deleteFrom('ingest_refusals').where('hour', '<', hour).execute();
  }
}
