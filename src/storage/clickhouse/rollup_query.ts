import type { Aggregation } from '#core/metrics/aggregation.ts';
import { type RollupPlan, stretchesOf } from '#core/metrics/rollup_plan.ts';
import { growthOver, MARK, NONE, OF_POINTS, type RollupColumn, SAMPLE } from '#storage/clickhouse/rollup_rows.ts';

/** The series whose rows are read. */
interface RollupSource {
  /** Conditions on the service, the metric and its series, for every table that has them. */
  readonly ofSeries: string;
  /** What each series belongs to, as a table of series and part; null where nothing is kept apart. */
  readonly parts: string | null;
}

/** More stretches of raw hours than these are read together with what lies between them. */
const STRETCHES_MAX = 24;

/** The parameters of what follows; seconds, as they are short. */
export function planParameters({ days, hours, rawHours }: RollupPlan): Record<string, unknown> {
  const inSeconds = (starts: readonly number[]): number[] => starts.map((start) => start / 1_000);
  const stretches = stretchesOf(rawHours, STRETCHES_MAX).flatMap(({ fromMs, toMs }, index) => [
    [`raw_${index}_from`, fromMs],
    [`raw_${index}_to`, toMs],
  ]);
  const rolledUp = Object.entries({ day: inSeconds(days), hour: inSeconds(hours) }).map(([span, starts]) => [
    [`${span}s`, starts],
    [`first_${span}`, starts[0] ?? 0],
    [`last_${span}`, starts.at(-1) ?? 0],
  ]);
  return { ...Object.fromEntries([...rolledUp.flat(), ...stretches]), raw_hours: inSeconds(rawHours) };
}

const BUCKET = 'intDiv(toInt64(toUnixTimestamp(start)) * 1000, {step:Int64}) * {step:Int64} AS bucket';

/** What an aggregation needs of each period of a series, and how the values of buckets follow. */
interface Meaning {
  readonly columns: readonly RollupColumn[];
  /** `kept`: the columns that are kept apart. */
  toSql(rows: string, kept: string): string;
}

/**
 * The meanings of core/metrics/aggregation.ts over periods instead of points: rows of bucket and value, with the part
 * before them if there is one. They are the values of `metric_query.ts`, but for the order in which numbers are added up.
 */
const MEANINGS: Readonly<Record<Aggregation, Meaning>> = {
  avg: overAllSamples(['samples', 'added', 'counted'], '(sum(added) + sum(counted)) / sum(samples)'),
  min: overAllSamples(['samples', 'least'], 'min(least)'),
  max: overAllSamples(['samples', 'greatest'], 'max(greatest)'),
  count: overAllSamples(['samples'], 'toFloat64(sum(samples))'),
  last: {
    columns: ['newest', 'newest_is'],
    toSql: (rows, kept) => `
      SELECT ${kept}bucket, sum(latest) AS result FROM (
        SELECT ${kept}${BUCKET}, argMax(newest, start) AS latest, argMax(newest_is, start) AS latest_is
        FROM ${rows} WHERE newest_is != ${NONE} GROUP BY ${kept}bucket, series)
      WHERE latest_is != ${MARK} GROUP BY ${kept}bucket`,
  },
  sum: {
    columns: ['samples', 'added', 'opening', 'opening_is', 'closing', 'grown'],
    toSql: (rows, kept) => `
      SELECT ${kept}${BUCKET},
        sum(added + grown + if(opening_is != ${SAMPLE} OR previous IS NULL, 0, ${growthOver('opening', 'assumeNotNull(previous)')})) AS result
      FROM (
        SELECT ${kept}start, samples, added, grown, opening, opening_is, lagInFrame(toNullable(closing)) OVER (
          PARTITION BY series, opening_is != ${NONE} ORDER BY start ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous
        FROM ${rows})
      WHERE samples > 0 AND start >= toStartOfHour(fromUnixTimestamp64Milli({from:Int64}, 'UTC'))
      GROUP BY ${kept}bucket`,
  },
};

function overAllSamples(columns: readonly RollupColumn[], aggregate: string): Meaning {
  return {
    columns,
    toSql: (rows, kept) => `
      SELECT ${kept}${BUCKET}, ${aggregate} AS result FROM ${rows} WHERE samples > 0 GROUP BY ${kept}bucket`,
  };
}

/** The values of buckets of whole hours. */
export function rolledUpValues(aggregation: Aggregation, plan: RollupPlan, source: RollupSource): string {
  const { columns, toSql } = MEANINGS[aggregation];
  const since = aggregation === 'sum' ? 'lookback' : 'from';
  const tables = [
    ...(plan.days.length > 0 ? [rolledUp('metric_days', 'day', source, columns)] : []),
    ...(plan.hours.length > 0 ? [rolledUp('metric_hours', 'hour', source, columns)] : []),
    ...(plan.rawHours.length > 0 ? [fromPoints(plan.rawHours, source, columns, since)] : []),
  ];
  const rows = `(${tables.join(' UNION ALL ')})`;
  if (source.parts === null) return toSql(rows, '');
  return toSql(`${rows} AS periods LEFT ANY JOIN ${source.parts} AS parts USING (series)`, 'part, ');
}

/** Of several versions the one that was completed counts: a later one may be under way. */
function rolledUp(
  table: 'metric_hours' | 'metric_days',
  span: 'hour' | 'day',
  { ofSeries }: RollupSource,
  columns: readonly RollupColumn[],
): string {
  const starts = `arrayMap(second -> toDateTime(second, 'UTC'), {${span}s:Array(UInt32)})`;
  const within = `start >= toDateTime({first_${span}:UInt32}, 'UTC') AND start <= toDateTime({last_${span}:UInt32}, 'UTC')`;
  return `SELECT series, start, ${columns.join(', ')} FROM ${table}
    WHERE ${ofSeries} AND ${within} AND (start, version) IN (
      SELECT start, max(version) FROM metric_rollups
      WHERE service_id = {service:UUID} AND span = '${span}' AND is_complete AND start IN ${starts} GROUP BY start)`;
}

/**
 * The index of the table and its partitions are looked up by the stretches: by a list of hours, every point of the window
 * would be read.
 */
function fromPoints(
  rawHours: readonly number[],
  { ofSeries }: RollupSource,
  columns: readonly RollupColumn[],
  since: 'from' | 'lookback',
): string {
  const instant = (parameter: string): string => `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;
  const stretches = stretchesOf(rawHours, STRETCHES_MAX).map(
    (_, index) => `(ts >= ${instant(`raw_${index}_from`)} AND ts < ${instant(`raw_${index}_to`)}
      AND toStartOfHour(ts) >= toStartOfHour(${instant(`raw_${index}_from`)})
      AND toStartOfHour(ts) < toStartOfHour(${instant(`raw_${index}_to`)}))`,
  );
  return `SELECT series, toStartOfHour(ts) AS start, ${columns.map((column) => `${OF_POINTS[column]} AS ${column}`).join(', ')}
    FROM metric_points FINAL PREWHERE ${ofSeries} AND ts >= ${instant(since)} AND ts < ${instant('to')}
      AND (${stretches.join(' OR ')})
      AND toStartOfHour(ts) IN arrayMap(second -> toDateTime(second), {raw_hours:Array(UInt32)})
    GROUP BY series, start`;
}
