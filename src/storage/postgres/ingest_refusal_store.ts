import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { Ingested, IngestRefusalReason } from '#storage/postgres/entities/services.ts';

interface Refused {
  readonly kind: Ingested;
  readonly reason: IngestRefusalReason;
  readonly count: number;
  readonly lastAt: Temporal.Instant;
}

/** What was refused of a service for one reason within the hour that begins at `hour`. */
export interface IngestRefusal extends Refused {
  readonly serviceId: Id<'service'>;
  readonly hour: Temporal.Instant;
}

/** The hour that refusals of this moment are counted in. */
export function refusalHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
}

/** How much ingestion refused of each service, and why. */
export class IngestRefusalStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds to what is there, all or nothing. What is told of a service that is gone is left out. */
  async add(refusals: readonly IngestRefusal[]): Promise<void> {
    // All processes lock rows in the same order.
    await this.#session.sql.run(
      `insert into ingest_refusals as known (service_id, kind, reason, hour, count, last_at)
       select told.* from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::timestamptz[])
         as told (service_id, kind, reason, hour, count, last_at)
       join services s on s.id = told.service_id and s.deleted_at is null
       order by told.service_id, told.kind, told.reason, told.hour
       on conflict (service_id, kind, reason, hour) do update
       set count = known.count + excluded.count, last_at = greatest(known.last_at, excluded.last_at)`,
      [
        refusals.map(({ serviceId }) => serviceId),
        refusals.map(({ kind }) => kind),
        refusals.map(({ reason }) => reason),
        refusals.map(({ hour }) => hour.toString()),
        refusals.map(({ count }) => count),
        refusals.map(({ lastAt }) => lastAt.toString()),
      ],
    );
  }

  /** Most frequent first. Whole hours are counted: the first one is that in which `since` lies. */
  async listSince(serviceId: Id<'service'>, since: Temporal.Instant): Promise<Refused[]> {
    return await this.#session.sql.rows<Refused>(
      `select kind, reason, sum(count)::bigint as count, max(last_at) as "lastAt" from ingest_refusals
       where service_id = $1 and last_at > $2 group by kind, reason order by 3 desc, kind, reason`,
      [serviceId, since.toString()],
    );
  }

  /** Forgets the hours that began before. */
  async removeBefore(hour: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('delete from ingest_refusals where hour < $1', [hour.toString()]);
  }
}
