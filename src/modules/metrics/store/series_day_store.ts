import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { START } from '#modules/metrics/store/point_rows.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { anyOf, PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';
import type { SeriesDayEntity } from '#storage/postgres/entities/services.ts';

/** Series of a service on a day, in the bytes of `packKeys`. `day` is an ISO date. */
export type SeriesOfDay = Omit<Row<typeof SeriesDayEntity>, 'id'>;

/** Stores which series each service had on each day, gathered by every API process. */
export class SeriesDayStore extends PostgresStore {
  /** All that any process has added for this day of the service. */
  async list(serviceId: Id<'service'>, day: string): Promise<Buffer[]> {
    const rows = await this.selectFrom('series_days')
      .select('keys')
      .where('day', '=', day)
      .where('service_id', '=', serviceId)
      .execute();
    return rows.map(({ keys }) => keys);
  }

  /** A mark for `listAddedAfter`; 0 before there is anything. */
  async latestMark(): Promise<number> {
    const row = await this.selectFrom('series_days')
      .select(({ fn }) => fn.max('id').as('mark'))
      .executeTakeFirst();
    return row?.mark ?? 0;
  }

  /**
   * Lists the series added after the mark for these services. A transaction may commit behind one with a later mark: who asks
   * again from the mark before misses nothing.
   */
  async listAddedAfter(mark: number, serviceIds: readonly Id<'service'>[]): Promise<SeriesOfDay[]> {
    return await this.selectFrom('series_days')
      .select(['service_id as serviceId', 'day', 'keys'])
      .where('id', '>', mark)
      .where('service_id', '=', anyOf(serviceIds))
      .execute();
  }

  async add(series: readonly SeriesOfDay[]): Promise<void> {
    const added = rowsOf('added', {
      service_id: ['text', series.map(({ serviceId }) => serviceId)],
      day: ['date', series.map(({ day }) => day)],
      keys: ['bytea', series.map(({ keys }) => keys)],
    });
    await this.insertInto('series_days')
      .columns(['service_id', 'day', 'keys'])
      .expression(({ selectFrom }) => selectFrom(added).selectAll())
      .execute();
  }

  async removeBefore(day: string): Promise<void> {
    await this.deleteFrom('series_days').where('day', '<', day).execute();
  }
}

/** Stretch that is looked at: several exports of each sender. */
const STRETCH = { minutes: 15 };

/** Bases in that stretch from which on two processes write a series in turn: one alone has a base for each of its starts. */
const BASES_LEAST = 3;
const SERIES_MAX = 20_000;
const QUERY_SECONDS_MAX = 3;

/**
 * Finds the series of a service that several processes write in turn, by their keys: before each of their samples stands
 * what its own process had counted.
 */
export async function findSharedSeries(
  client: ClickHouseClient,
  serviceId: Id<'service'>,
  now: Temporal.Instant,
): Promise<readonly bigint[]> {
  const rows = await readRows<[string]>(
    client,
    `SELECT toString(series) FROM metric_points PREWHERE service_id = {service:UUID}
          AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        WHERE kind = ${START} AND value > 0 GROUP BY series HAVING uniqExact(ts) >= ${BASES_LEAST} LIMIT ${SERIES_MAX}`,
    { service: uuidOf(serviceId), since: now.subtract(STRETCH).epochMilliseconds },
    { ...SEES_ALL_ACKNOWLEDGED, max_execution_time: QUERY_SECONDS_MAX },
  );
  return rows.map(([series]) => BigInt(series));
}

/** Services whose points were stored late: what the evaluation of rules has in memory of them is not complete. */
export class LatePointsStore extends PostgresStore {
  /** Services that are gone are left out. */
  async record(serviceIds: readonly Id<'service'>[], storedAt: Temporal.Instant): Promise<void> {
    const late = rowsOf('late', { service_id: ['text', [...new Set(serviceIds)]] });
    await this.insertInto('late_points')
      .columns(['service_id', 'stored_at'])
      .expression(({ selectFrom, val }) =>
        selectFrom(late)
          .innerJoin('services as s', 's.id', 'late.service_id')
          .select(['s.id', val(storedAt).as('stored_at')])
          .orderBy('s.id'),
      )
      .onConflict((conflict) =>
        conflict.column('service_id').doUpdateSet(({ ref }) => ({ stored_at: ref('excluded.stored_at') })),
      )
      .execute();
  }

  /** A time that lies ahead was written before the clock was set back: it counts. */
  async listSince(time: Temporal.Instant): Promise<Id<'service'>[]> {
    const rows = await this.selectFrom('late_points')
      .select('service_id as serviceId')
      .where('stored_at', '>=', time)
      .execute();
    return rows.map(({ serviceId }) => serviceId);
  }
}
