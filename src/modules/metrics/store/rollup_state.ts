import { DAY_MS, type ReadPeriod, type Stretch, type ValidRollups } from '#modules/metrics/decide/rollup_plan.ts';
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

const OF_PERIOD = `service_id = {service:UUID}
  AND start >= toDateTime({since:Int64}, 'UTC') AND start < toDateTime({until:Int64}, 'UTC')`;

/** Pairs of from and to, of starts that are in order. */
function stretchesOf(starts: string, seconds: number): string {
  const steps = `arrayDifference(${starts})`;
  return `arrayZip(
    arrayFilter((start, step) -> step != ${seconds}, ${starts}, ${steps}),
    arrayMap(start -> start + ${seconds}, arrayFilter((start, step) -> step != ${seconds}, ${starts}, arrayRotateLeft(${steps}, 1))))`;
}

/** Query for valid rollups: one read of what was inserted, and one of what was rolled up. */
const VALID = `
  SELECT ${stretchesOf('hours', 3_600)}, ${stretchesOf('days', 86_400)}
  FROM (
    SELECT arraySort(groupArrayIf(toUnixTimestamp(period), span = 'hour')) AS hours,
      arraySort(groupArrayIf(toUnixTimestamp(period), span = 'day')) AS days
    FROM (
      SELECT span, period, max(complete) = 1 AND sum(inserted) = sum(rolled) AS is_valid
      FROM (
        SELECT arrayJoin(['hour', 'day']) AS span, if(span = 'day', toStartOfDay(start), start) AS period,
          stamp AS inserted, toUInt8(0) AS complete, toUInt64(0) AS rolled
        FROM metric_hour_inserts WHERE ${OF_PERIOD}
        UNION ALL
        SELECT toString(span) AS span, start AS period, toUInt64(0) AS inserted, latest.2 AS complete, latest.3 AS rolled
        FROM (
          SELECT span, start, max((version, is_complete, stamp)) AS latest
          FROM metric_rollups WHERE ${OF_PERIOD} GROUP BY span, start))
      GROUP BY span, period)
    WHERE is_valid)`;

/** Tells which rollups may stand for the points of a service. */
export class RollupState {
  readonly #client: ClickHouseClient;

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  /**
   * Returns the valid rollups within the period. They may be read for some seconds, even if they become outdated
   * meanwhile.
   */
  async findValid(serviceId: Id<'service'>, period: ReadPeriod): Promise<ValidRollups> {
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: VALID,
        query_params: {
          service: uuidOf(serviceId),
          // Days need all of their hours.
          since: Math.floor(period.fromMs / DAY_MS) * (DAY_MS / 1_000),
          until: Math.ceil(period.toMs / DAY_MS) * (DAY_MS / 1_000),
        },
        format: 'JSONCompactEachRow',
        clickhouse_settings: SEES_ALL_ACKNOWLEDGED,
      });
      return await result.json<[hours: Stretches, days: Stretches]>();
    });
    const [hours, days] = rows[0] ?? [[], []];
    return { hours: hours.map(inMs), days: days.map(inMs) };
  }
}

/** Stretches of time in epoch seconds. */
type Stretches = readonly (readonly [from: number, to: number])[];

const inMs = ([from, to]: Stretches[number]): Stretch => ({ fromMs: from * 1_000, toMs: to * 1_000 });
