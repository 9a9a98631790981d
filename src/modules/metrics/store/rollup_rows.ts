import { type Id, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { keysOf } from '#kernel/records.ts';
import { DAY_MS, type ReadPeriod, type Stretch, type ValidRollups } from '#modules/metrics/decide/rollup_plan.ts';
import { SMALL_FALL_PARTS } from '#modules/metrics/decide/series_points.ts';
import { COUNTER, IS_COUNTING, IS_SAMPLE, STALE, START } from '#modules/metrics/store/point_rows.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';

/** Kinds of a row: `newest_is` and `opening_is` are one of these. */
export const NONE = '0';
export const SAMPLE = '1';
/** Mark in `newest_is`: the series ended; in `opening_is`: its counter began at 0. */
const MARK = '2';

/** Samples and starts of counters in order of time. */
const COUNTING = `arraySort(groupArrayIf((ts, value, kind), ${IS_COUNTING}))`;
const NEWEST = `kind != ${START}`;

/** Returns the SQL for the growth of a counter between two values, as `growthBetween` computes it. */
export function growthOver(later: string, earlier: string): string {
  const isReset = `${later} >= 0 AND ${later} < ${earlier} AND (${earlier} - ${later}) * ${SMALL_FALL_PARTS} >= ${earlier}`;
  return `if(${isReset}, ${later}, ${later} - ${earlier})`;
}

/**
 * Columns of a series in an hour or a day, and the SQL that makes them from points. Everything that queries ask of whole
 * hours follows from these, exactly: counters grew by `grown` within the period, and from `closing` of the period before to
 * `opening` of the next.
 */
export const OF_POINTS = {
  samples: `countIf(${IS_SAMPLE})`,
  /** Gauges and deltas, added up. */
  added: `sumIf(value, ${IS_SAMPLE} AND kind != ${COUNTER})`,
  /** The raw values of counters, added up. */
  counted: `sumIf(value, kind = ${COUNTER})`,
  least: `minIf(value, ${IS_SAMPLE})`,
  greatest: `maxIf(value, ${IS_SAMPLE})`,
  newest: `argMaxIf(value, ts, ${NEWEST})`,
  newest_is: `multiIf(countIf(${NEWEST}) = 0, ${NONE}, argMaxIf(kind, ts, ${NEWEST}) = ${STALE}, ${MARK}, ${SAMPLE})`,
  opening: `(${COUNTING}[1]).2`,
  opening_is: `multiIf(countIf(${IS_COUNTING}) = 0, ${NONE}, (${COUNTING}[1]).3 = ${COUNTER}, ${SAMPLE}, ${MARK})`,
  closing: `(${COUNTING}[-1]).2`,
  grown: `arraySum((rise, total, what) -> if(what = ${COUNTER}, if(total >= 0 AND rise < 0 AND -rise * ${SMALL_FALL_PARTS} >= total - rise, total, rise), 0),
      arrayDifference(${COUNTING}.2), ${COUNTING}.2, ${COUNTING}.3)`,
} as const;

export type RollupColumn = keyof typeof OF_POINTS;

const PERIODS = `arraySort(groupArrayIf((start, opening, closing, opening_is), opening_is != ${NONE}))`;

/** The same from rows of shorter periods. */
export const OF_SHORTER: Readonly<Record<RollupColumn, string>> = {
  samples: 'sum(samples)',
  added: 'sum(added)',
  counted: 'sum(counted)',
  least: 'minIf(least, samples > 0)',
  greatest: 'maxIf(greatest, samples > 0)',
  newest: `argMaxIf(newest, start, newest_is != ${NONE})`,
  newest_is: `argMaxIf(newest_is, start, newest_is != ${NONE})`,
  opening: `(${PERIODS}[1]).2`,
  opening_is: `(${PERIODS}[1]).4`,
  closing: `(${PERIODS}[-1]).3`,
  grown: `sum(grown) + arraySum((later, earlier, what) -> if(what = ${SAMPLE}, ${growthOver('later', 'earlier')}, 0),
      arraySlice(${PERIODS}.2, 2), arrayPopBack(${PERIODS}.3), arraySlice(${PERIODS}.4, 2))`,
};

export const ROLLUP_COLUMNS = keysOf(OF_POINTS);

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
export class RollupState extends ClickHouseStore {
  /**
   * Returns the valid rollups within the period. They may be read for some seconds, even if they become outdated
   * meanwhile.
   */
  async findValid(serviceId: Id<'service'>, period: ReadPeriod): Promise<ValidRollups> {
    const rows = await this.rows<[hours: Stretches, days: Stretches]>(
      VALID,
      {
        service: uuidOf(serviceId),
        // Days need all of their hours.
        since: Math.floor(period.fromMs / DAY_MS) * (DAY_MS / 1_000),
        until: Math.ceil(period.toMs / DAY_MS) * (DAY_MS / 1_000),
      },
      SEES_ALL_ACKNOWLEDGED,
    );
    const [hours, days] = rows[0] ?? [[], []];
    return { hours: hours.map(inMs), days: days.map(inMs) };
  }
}

/** Stretches of time in epoch seconds. */
type Stretches = readonly (readonly [from: number, to: number])[];

const inMs = ([from, to]: Stretches[number]): Stretch => ({ fromMs: from * 1_000, toMs: to * 1_000 });
