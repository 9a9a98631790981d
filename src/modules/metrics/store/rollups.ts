import { type Id, uuidOf } from '#kernel/ids.ts';
import { keysOf } from '#kernel/records.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import {
  DAY_MS,
  HOUR_MS,
  joinNearest,
  type ReadPeriod,
  type RollupPlan,
  startsIn,
  type Stretch,
  type ValidRollups,
} from '#modules/metrics/decide/rollup_plan.ts';
import { SMALL_FALL_PARTS } from '#modules/metrics/decide/series_points.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { COUNTER, IS_COUNTING, IS_SAMPLE, STALE, START } from './point_rows.ts';

/** Kinds of a row: `newest_is` and `opening_is` are one of these. */
const NONE = '0';
const SAMPLE = '1';
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

type RollupColumn = keyof typeof OF_POINTS;

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

/** The series whose rows are read. */
interface RollupSource {
  /** Conditions on the service, the metric and its series, for every table that has them. */
  readonly ofSeries: string;
  /** Table of series and the part that each belongs to; null if parts are not told apart. */
  readonly parts: string | null;
  readonly stepMs: number;
}

/** Rows of periods, and which part of a chart each belongs to. */
interface Periods {
  /** A table of periods. */
  readonly rows: string;
  /** Join that follows a table with a column `series`. */
  readonly joined: string;
  /** The columns that are kept apart. */
  readonly kept: '' | 'part, ';
  /** Whether no bucket holds two periods of a series. */
  readonly isFinest: boolean;
}

/** Number of stretches of raw hours above which they are read together with what lies between them. */
const STRETCHES_MAX = 24;

/** The parameters of what follows; seconds, as they are short. */
export function planParameters({ days, hours, raw }: RollupPlan): Record<string, unknown> {
  const inSeconds = (times: readonly number[]): number[] => times.map((time) => time / 1_000);
  const rolledUp = Object.entries({ day: days, hour: hours }).map(([span, stretches]) => [
    [`${span}s_from`, inSeconds(stretches.map(({ fromMs }) => fromMs))],
    [`${span}s_to`, inSeconds(stretches.map(({ toMs }) => toMs))],
  ]);
  const stretches = joinNearest(raw, STRETCHES_MAX).flatMap(({ fromMs, toMs }, index) => [
    [`raw_${index}_from`, fromMs],
    [`raw_${index}_to`, toMs],
  ]);
  return {
    ...Object.fromEntries([...rolledUp.flat(), ...stretches]),
    ...(raw.length > STRETCHES_MAX && { raw_hours: inSeconds(startsIn(raw, HOUR_MS)) }),
  };
}

const BUCKET = 'intDiv(toInt64(toUnixTimestamp(start)) * 1000, {step:Int64}) * {step:Int64} AS bucket';

/** Columns that an aggregation needs of each period of a series, and the SQL that makes values of buckets of them. */
interface Meaning {
  readonly columns: readonly RollupColumn[];
  toSql(periods: Periods): string;
}

/**
 * The meanings of modules/metrics/decide/aggregation.ts over periods instead of points: rows of bucket and value, with the part
 * before them if there is one. They are the values of `metric_query.ts`, but for the order in which numbers are added up.
 * Rows are many where parts are few, so these are joined as late as possible.
 */
const MEANINGS: Readonly<Record<Aggregation, Meaning>> = {
  avg: overAllSamples(['samples', 'added', 'counted'], '(sum(added) + sum(counted)) / sum(samples)'),
  min: overAllSamples(['samples', 'least'], 'min(least)'),
  max: overAllSamples(['samples', 'greatest'], 'max(greatest)'),
  count: overAllSamples(['samples'], 'toFloat64(sum(samples))'),
  last: {
    columns: ['newest', 'newest_is'],
    toSql: ({ rows, joined, kept, isFinest }) =>
      isFinest
        ? `SELECT ${kept}${BUCKET}, sum(newest) AS result FROM ${rows} AS periods ${joined}
          WHERE newest_is = ${SAMPLE} GROUP BY ${kept}bucket`
        : `SELECT ${kept}bucket, sum(latest) AS result FROM (
            SELECT series, ${BUCKET}, argMax(newest, start) AS latest, argMax(newest_is, start) AS latest_is
            FROM ${rows} WHERE newest_is != ${NONE} GROUP BY series, bucket) AS ends ${joined}
          WHERE latest_is = ${SAMPLE} GROUP BY ${kept}bucket`,
  },
  sum: {
    columns: ['samples', 'added', 'opening', 'opening_is', 'closing', 'grown'],
    // Little is carried through the window, whose rows are sorted.
    toSql: ({ rows, joined, kept }) => `
      SELECT ${kept}${BUCKET},
        sum(own + if(opening_is != ${SAMPLE} OR previous IS NULL, 0, ${growthOver('opening', 'assumeNotNull(previous)')})) AS result
      FROM (
        SELECT series, start, has_samples, own, opening, opening_is, lagInFrame(toNullable(closing)) OVER (
          PARTITION BY series, opening_is != ${NONE} ORDER BY start ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous
        FROM (
          SELECT series, start, samples > 0 AS has_samples, added + grown AS own, opening, opening_is, closing
          FROM ${rows} WHERE samples > 0 OR opening_is != ${NONE})) AS periods ${joined}
      WHERE has_samples AND start >= toStartOfHour(fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
      GROUP BY ${kept}bucket`,
  },
};

function overAllSamples(columns: readonly RollupColumn[], aggregate: string): Meaning {
  return {
    columns,
    toSql: ({ rows, joined, kept }) => `
      SELECT ${kept}${BUCKET}, ${aggregate} AS result FROM ${rows} AS periods ${joined}
      WHERE samples > 0 GROUP BY ${kept}bucket`,
  };
}

/** The values of buckets of whole hours. */
export function rolledUpValues(aggregation: Aggregation, plan: RollupPlan, source: RollupSource): string {
  const { columns, toSql } = MEANINGS[aggregation];
  const since = aggregation === 'sum' ? 'lookback' : 'from';
  const tables = [
    ...(plan.days.length > 0 ? [rolledUp('metric_days', 'day', source, columns)] : []),
    ...(plan.hours.length > 0 ? [rolledUp('metric_hours', 'hour', source, columns)] : []),
    ...(plan.raw.length > 0 ? [fromPoints(plan.raw, source, columns, since)] : []),
  ];
  return toSql({
    rows: `(${tables.join(' UNION ALL ')})`,
    isFinest: source.stepMs === HOUR_MS,
    ...(source.parts === null
      ? { joined: '', kept: '' }
      : { joined: `LEFT ANY JOIN ${source.parts} AS parts USING (series)`, kept: 'part, ' }),
  });
}

/** Selects, of several versions of a rollup, the completed one: a later one may be under way. */
function rolledUp(
  table: 'metric_hours' | 'metric_days',
  span: 'hour' | 'day',
  { ofSeries }: RollupSource,
  columns: readonly RollupColumn[],
): string {
  const [from, to] = [`{${span}s_from:Array(UInt32)}`, `{${span}s_to:Array(UInt32)}`];
  const within = `start >= toDateTime(${from}[1], 'UTC') AND start < toDateTime(${to}[-1], 'UTC')`;
  return `SELECT series, start, ${columns.join(', ')} FROM ${table}
    WHERE ${ofSeries} AND ${within} AND (start, version) IN (
      SELECT start, max(version) FROM metric_rollups
      WHERE service_id = {service:UUID} AND span = '${span}' AND ${within} AND is_complete
        AND arrayExists((first, end) -> toUnixTimestamp(start) >= first AND toUnixTimestamp(start) < end, ${from}, ${to})
      GROUP BY start)`;
}

/**
 * The index of the table and its partitions are looked up by the stretches: by a list of hours, every point of the window
 * would be read.
 */
function fromPoints(
  raw: readonly Stretch[],
  { ofSeries }: RollupSource,
  columns: readonly RollupColumn[],
  since: 'from' | 'lookback',
): string {
  const instant = (parameter: string): string => `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;
  const stretches = joinNearest(raw, STRETCHES_MAX).map(
    (_, index) => `(ts >= ${instant(`raw_${index}_from`)} AND ts < ${instant(`raw_${index}_to`)}
      AND toStartOfHour(ts) >= toStartOfHour(${instant(`raw_${index}_from`)})
      AND toStartOfHour(ts) < toStartOfHour(${instant(`raw_${index}_to`)}))`,
  );
  const isExact = raw.length <= STRETCHES_MAX;
  return `SELECT series, toStartOfHour(ts) AS start, ${columns.map((column) => `${OF_POINTS[column]} AS ${column}`).join(', ')}
    FROM metric_points FINAL PREWHERE ${ofSeries} AND ts >= ${instant(since)} AND ts < ${instant('to')}
      AND (${stretches.join(' OR ')})
      ${isExact ? '' : 'AND toStartOfHour(ts) IN arrayMap(second -> toDateTime(second), {raw_hours:Array(UInt32)})'}
    GROUP BY series, start`;
}
