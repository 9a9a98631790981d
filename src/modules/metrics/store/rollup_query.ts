import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { HOUR_MS, joinNearest, type RollupPlan, startsIn, type Stretch } from '#modules/metrics/decide/rollup_plan.ts';
import { growthOver, NONE, OF_POINTS, type RollupColumn, SAMPLE } from '#modules/metrics/store/rollup_rows.ts';

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
