import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { START } from '#modules/metrics/store/point_kind_sql.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';

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
  return await withClickHouseErrors(async () => {
    const result = await client.query({
      query: `SELECT toString(series) FROM metric_points PREWHERE service_id = {service:UUID}
          AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        WHERE kind = ${START} AND value > 0 GROUP BY series HAVING uniqExact(ts) >= ${BASES_LEAST} LIMIT ${SERIES_MAX}`,
      query_params: { service: uuidOf(serviceId), since: now.subtract(STRETCH).epochMilliseconds },
      format: 'JSONCompactEachRow',
      clickhouse_settings: { ...SEES_ALL_ACKNOWLEDGED, max_execution_time: QUERY_SECONDS_MAX },
    });
    return (await result.json<[string]>()).map(([series]) => BigInt(series));
  });
}
