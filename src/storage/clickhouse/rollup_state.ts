import { DAY_MS, type ReadPeriod, type RollupPlan, planRollups } from '#core/metrics/rollup_plan.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';

/**
 * The hours of which something is known: what was inserted, and as of which insert they were rolled up last. `scope` is a
 * condition on `service_id` and `start`. On `is_valid` hours rollup and points agree.
 */
export function hourStates(scope: string): string {
  return `SELECT service_id, start, sum(inserted) AS stamp, sum(many) AS points, max(arrived) AS last_at,
      max(newest) AS version, max(complete) AS is_complete, is_complete = 1 AND stamp = sum(rolled) AS is_valid
    FROM (
      SELECT service_id, start, sum(stamp) AS inserted, sum(points) AS many, max(last_at) AS arrived,
        toUInt64(0) AS newest, toUInt8(0) AS complete, toUInt64(0) AS rolled
      FROM metric_hour_inserts WHERE ${scope} GROUP BY service_id, start
      UNION ALL
      ${latestRollups('hour', scope)})
    GROUP BY service_id, start`;
}

/** The same of the days that are rolled up. */
export function dayStates(scope: string): string {
  return `SELECT service_id, start, sum(inserted) AS stamp, max(newest) AS version, max(complete) AS is_complete,
      is_complete = 1 AND stamp = sum(rolled) AS is_valid
    FROM (
      SELECT service_id, toStartOfDay(start) AS start, sum(stamp) AS inserted, toUInt64(0) AS many,
        toDateTime64(0, 3, 'UTC') AS arrived, toUInt64(0) AS newest, toUInt8(0) AS complete, toUInt64(0) AS rolled
      FROM metric_hour_inserts WHERE ${scope} GROUP BY service_id, start
      UNION ALL
      ${latestRollups('day', scope)})
    GROUP BY service_id, start`;
}

/** A rollup that was begun counts for nothing, also not the one before it. */
function latestRollups(span: 'hour' | 'day', scope: string): string {
  return `SELECT service_id, start, toUInt64(0) AS inserted, toUInt64(0) AS many, toDateTime64(0, 3, 'UTC') AS arrived,
        max(rollups.version) AS newest, argMax(rollups.is_complete, (rollups.version, rollups.is_complete)) AS complete,
        argMax(rollups.stamp, (rollups.version, rollups.is_complete)) AS rolled
      FROM metric_rollups AS rollups WHERE span = '${span}' AND ${scope} GROUP BY service_id, start`;
}

/** Which rollups may stand for the points of a service. */
export class RollupState {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /** From where to read the period; null: from points alone. */
  async plan(serviceId: Id<'service'>, period: ReadPeriod, stepMs: number): Promise<RollupPlan | null> {
    // Days need all of their hours.
    const scope = `service_id = {service:UUID} AND start >= toDateTime({since:Int64}, 'UTC') AND start < toDateTime({until:Int64}, 'UTC')`;
    const valid = (states: string) =>
      `SELECT arraySort(groupArray(toUnixTimestamp(start))) FROM (${states}) WHERE is_valid`;
    const days = stepMs % DAY_MS === 0 ? `(${valid(dayStates(scope))})` : '[]';
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT (${valid(hourStates(scope))}), ${days}`,
        query_params: {
          service: uuidOf(serviceId),
          since: Math.floor(period.fromMs / DAY_MS) * (DAY_MS / 1_000),
          until: Math.ceil(period.toMs / DAY_MS) * (DAY_MS / 1_000),
        },
        format: 'JSONCompactEachRow',
        clickhouse_settings: SEES_ALL_ACKNOWLEDGED,
      });
      return await result.json<[hours: number[], days: number[]]>();
    });
    const [hours = [], ofDays = []] = rows[0] ?? [];
    const inMs = (seconds: number): number => seconds * 1_000;
    return planRollups(period, stepMs, { hours: hours.map(inMs), days: ofDays.map(inMs) });
  }
}
