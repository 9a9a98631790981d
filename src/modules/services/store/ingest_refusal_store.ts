import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, type Row } from '#storage/postgres/store.ts';
import { LIMITS_MET } from '#modules/services/decide/ingest_refusal.ts';
import type { IngestRefusalEntity } from '#storage/postgres/entities/services.ts';
import { addHourlyCounts, listHourlyCounts } from '#modules/services/store/hourly_counts.ts';

/** Items of a service that were refused for one reason within the hour that begins at `hour`. */
export type IngestRefusal = Row<typeof IngestRefusalEntity>;

type Refused = Pick<IngestRefusal, 'kind' | 'reason' | 'count' | 'lastAt'>;

/** The hour in which a refusal at this time is counted. */
export function refusalHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
}

/** Stores how much ingestion refused of each service, and why. */
export class IngestRefusalStore extends PostgresStore {
  async add(refusals: readonly IngestRefusal[]): Promise<void> {
    await addHourlyCounts(this.session, 'ingest_refusals', refusals);
  }

  async listSince(serviceId: Id<'service'>, since: Temporal.Instant): Promise<Refused[]> {
    return await listHourlyCounts(this.session, 'ingest_refusals', serviceId, since);
  }

  /** Counts what was refused of each of the services; limits that were met without a loss are not counted. */
  async countOfServices(
    serviceIds: readonly Id<'service'>[],
    since: Temporal.Instant,
  ): Promise<Map<Id<'service'>, number>> {
    const rows = await this.selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['service_id as serviceId', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('service_id', '=', anyOf(serviceIds))
      .where('last_at', '>', since)
      .where('reason', 'not in', [...LIMITS_MET])
      .groupBy('service_id')
      .execute();
    return new Map(rows.map(({ serviceId, count }) => [serviceId, count]));
  }

  /** Counts refusals of all services by reason, within the hour that begins at `hour`. */
  async countByReason(hour: Temporal.Instant): Promise<Map<string, number>> {
    const rows = await this.selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['reason', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('hour', '=', hour)
      .groupBy('reason')
      .execute();
    return new Map(rows.map(({ reason, count }) => [reason, count]));
  }

  /** Removes the hours that began before. */
  async removeBefore(hour: Temporal.Instant): Promise<void> {
    await this.deleteFrom('ingest_refusals').where('hour', '<', hour).execute();
  }
}
