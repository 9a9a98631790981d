import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Aggregation } from '#modules/metrics/decide/aggregation.ts';
import type { Buckets } from '#modules/metrics/decide/buckets.ts';
import { RANGE_LABEL } from '#modules/metrics/decide/exponential_buckets.ts';
import { anchoredPattern } from '#modules/metrics/decide/pattern_size.ts';
import type { LabelMatcher, MatchOperator, MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import {
  DAY_MS,
  isOfWholeHours,
  planRollups,
  readPeriodOf,
  type RollupPlan,
  type ValidRollups,
} from '#modules/metrics/decide/rollup_plan.ts';
import { COUNTER, IS_COUNTING, IS_SAMPLE, STALE, START } from './point_rows.ts';
import { withPredecessors } from './predecessors.ts';
import { growthOver, planParameters, rolledUpValues } from './rollups.ts';

export interface MetricQuery {
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
  readonly aggregation: Aggregation;
  readonly buckets: Buckets;
  /** Older points are as if they were not there, even where they still are. */
  readonly keptSince: Temporal.Instant;
  /** Rollups that may be read instead of points; none if left out. */
  readonly rollups?: ValidRollups | null;
}

/** The series of a query by the values of a label: each of `values` by itself, all others together. */
export interface Split {
  readonly label: string;
  readonly values: readonly string[];
}

/** A query whose buckets may be too many to show. */
export interface ChartQuery extends MetricQuery {
  readonly split: Split | null;
  /** Width of a column, of which the buckets with the least and the greatest value are kept; null keeps all buckets. */
  readonly columnMs: number | null;
}

interface BoundQuery {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * Returns a query with a row for each bucket that holds data: its start in epoch milliseconds, and its value. All
 * values from callers are parameters; the text is made of constants and the number of conditions.
 */
export function bucketQueryOf(query: MetricQuery): BoundQuery {
  return { sql: `${valuesOf(query, query.aggregation, null)} ORDER BY bucket`, parameters: parametersOf(query) };
}

/**
 * The same values for a chart: rows of part, bucket and value. The part is the place of the label's value in
 * `split.values` from 1, or 0 for all other series.
 */
export function chartQueryOf({ split, columnMs, ...query }: ChartQuery): BoundQuery {
  const part = split === null ? null : 'toUInt16(indexOf({parts:Array(String)}, any(tags[{split:String}])))';
  const values = valuesOf(query, query.aggregation, part);
  const rows = part === null ? `SELECT 0 AS part, bucket, result FROM (${values})` : values;
  return {
    sql: `SELECT part, bucket, result FROM (${columnMs === null ? rows : reduced(rows)}) ORDER BY part, bucket`,
    parameters: {
      ...parametersOf(query),
      ...(split !== null && { split: split.label, parts: split.values }),
      ...(columnMs !== null && { column: columnMs, last_column: Math.floor((query.buckets.toMs - 1) / columnMs) }),
    },
  };
}

/**
 * Returns the query for the growth of the buckets of a histogram, for each part of a chart: rows of part, start and
 * pairs of `bucketTextOf` and gain. All buckets are told, whatever `columnMs` says.
 */
export function growthChartQueryOf({ split, ...query }: ChartQuery): BoundQuery {
  const place = split === null ? 'toUInt16(0)' : `toUInt16(indexOf({parts:Array(String)}, any(tags[{split:String}])))`;
  const gains = valuesOf(query, 'sum', `(${place}, ${BUCKET_OF_LAYOUT})`, SERIES_WITH_LAYOUTS);
  return {
    sql: `SELECT part.1 AS place, bucket, groupArray((part.2, result)) FROM (${gains})
      GROUP BY place, bucket ORDER BY place, bucket`,
    parameters: { ...parametersOf(query), ...(split !== null && { split: split.label, parts: split.values }) },
  };
}

/** The same for each value of a label, over the whole window: rows of the value and the pairs. */
export function growthRankQueryOf(query: MetricQuery, label: string): BoundQuery {
  const whole = overWholeWindow(query);
  const gains = valuesOf(whole, 'sum', `(any(tags[{split:String}]), ${BUCKET_OF_LAYOUT})`, SERIES_WITH_LAYOUTS);
  return {
    sql: `SELECT part.1 AS value, groupArray((part.2, result)) FROM (${gains}) GROUP BY value`,
    parameters: { ...parametersOf(whole), split: label },
  };
}

/** The least and the greatest bucket of each column, and the newest of all: what is read as the present value. */
function reduced(rows: string): string {
  return `SELECT part, point.1 AS bucket, point.2 AS result FROM (
    SELECT part, intDiv(bucket, {column:Int64}) AS place, arrayJoin(arrayDistinct(arrayConcat(
      [(argMin(bucket, result), min(result)), (argMax(bucket, result), max(result))],
      if(place = {last_column:Int64}, [(max(bucket), argMax(result, bucket))], [])))) AS point
    FROM (${rows}) GROUP BY part, place)`;
}

/**
 * The values of a label whose series have the greatest aggregate over the whole window, and how many values there are:
 * rows of the value and the count.
 */
export function rankQueryOf(query: MetricQuery, label: string, limit: number): BoundQuery {
  const whole = overWholeWindow(query);
  const values = valuesOf(whole, query.aggregation, 'any(tags[{split:String}])');
  return {
    sql: `SELECT part, count() OVER () FROM (${values}) ORDER BY result DESC, part LIMIT {limit:UInt32}`,
    parameters: { ...parametersOf(whole), split: label, limit },
  };
}

/** The aggregate of the series with each value of a label, over the whole window: rows of the value and the aggregate. */
export function labelValueQueryOf(query: MetricQuery, label: string): BoundQuery {
  const whole = overWholeWindow(query);
  const values = valuesOf(whole, query.aggregation, 'any(tags[{split:String}])');
  return { sql: `SELECT part, result FROM (${values})`, parameters: { ...parametersOf(whole), split: label } };
}

/**
 * Widens the bucket to all times, so that no window is cut; it counts as whole days, which may be read from their
 * rollups.
 */
function overWholeWindow(query: MetricQuery): MetricQuery {
  return { ...query, buckets: { ...query.buckets, stepMs: 100_000_000 * DAY_MS } };
}

function parametersOf(query: MetricQuery): Record<string, unknown> {
  const { serviceId, selector, buckets, keptSince } = query;
  const plan = planOf(query);
  const period = readPeriodOf(buckets, keptSince.epochMilliseconds);
  return {
    ...selectorParameters(serviceId, selector),
    from: period.fromMs,
    lookback: period.lookbackMs,
    reach: period.reachMs,
    to: period.toMs,
    step: buckets.stepMs,
    ...(plan !== null && planParameters(plan)),
  };
}

/** Null: all is read from points. */
function planOf({ buckets, keptSince, rollups }: MetricQuery): RollupPlan | null {
  if (!rollups) return null;
  return planRollups(readPeriodOf(buckets, keptSince.epochMilliseconds), buckets.stepMs, rollups);
}

/** The parameters of `seriesMeeting`. */
export function selectorParameters(serviceId: Id<'service'>, selector: MetricSelector): Record<string, unknown> {
  const matchers = selector.matchers.map(({ label, value, operator }, index) => [
    [`label_${index}`, label],
    [`match_${index}`, isPattern(operator) ? anchoredPattern(value) : value],
  ]);
  return { service: uuidOf(serviceId), metric: selector.name, ...Object.fromEntries(matchers.flat()) };
}

const BUCKET = 'intDiv(toUnixTimestamp64Milli(ts), {step:Int64}) * {step:Int64} AS bucket';

/** A counter's first sample in reach grows by nothing, unless it is known when it began at zero. */
const GROWTH = `if(previous IS NULL, 0, ${growthOver('value', 'assumeNotNull(previous)')})`;

/** Source of samples, and the columns that are kept apart: none, or the part that each series belongs to. */
interface Source {
  readonly apart: '' | 'part, ';
  samples(since: 'from' | 'lookback'): string;
}

type ToSql = (source: Source) => string;

/**
 * SQL of each aggregation (`modules/metrics/decide/aggregation.ts`): rows of bucket and value, with the part before
 * them if there is one.
 */
const MEANINGS: Readonly<Record<Aggregation, ToSql>> = {
  avg: overAllSamples('avg(value)'),
  min: overAllSamples('min(value)'),
  max: overAllSamples('max(value)'),
  count: overAllSamples('toFloat64(count())'),
  last: ({ apart, samples }) => `
    SELECT ${apart}bucket, sum(newest) AS result FROM (
      SELECT ${apart}${BUCKET}, argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
      FROM ${samples('from')} WHERE kind != ${START} GROUP BY ${apart}bucket, series)
    WHERE newest_kind != ${STALE} GROUP BY ${apart}bucket`,
  sum: ({ apart, samples }) => `
    SELECT ${apart}${BUCKET}, sum(if(kind = ${COUNTER}, ${GROWTH}, value)) AS result FROM (
      SELECT ${apart}ts, kind, value, lagInFrame(toNullable(value)) OVER (
        PARTITION BY series, ${IS_COUNTING} ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous
      FROM ${samples('lookback')} WHERE kind != ${STALE})
    WHERE ts >= ${instant('from')} AND kind != ${START} GROUP BY ${apart}bucket`,
};

function overAllSamples(aggregate: string): ToSql {
  return ({ apart, samples }) => `
    SELECT ${apart}${BUCKET}, ${aggregate} AS result FROM ${samples('from')} WHERE ${IS_SAMPLE}
    GROUP BY ${apart}bucket`;
}

/** The series of a metric, with their labels as `tags`. */
const SERIES_OF_METRIC = 'metric_series WHERE service_id = {service:UUID} AND metric = {metric:String}';

/** Rows of bucket and value. `part` is what a series belongs to, as an aggregate over its rows in `seriesRows`. */
function valuesOf(
  query: MetricQuery,
  aggregation: Aggregation,
  part: string | null,
  seriesRows = SERIES_OF_METRIC,
): string {
  const ofSeries = seriesOf(query.selector);
  const hasReach = !isOfWholeHours(query.buckets);
  const plan = planOf(query);
  const parts = part === null ? null : `(SELECT series, ${part} AS part FROM ${seriesRows} GROUP BY series)`;
  if (plan !== null) return rolledUpValues(aggregation, plan, { ofSeries, parts, stepMs: query.buckets.stepMs });
  if (parts === null)
    return MEANINGS[aggregation]({ apart: '', samples: (since) => samplesOf(since, ofSeries, hasReach) });
  return MEANINGS[aggregation]({
    apart: 'part, ',
    samples: (since) => `(SELECT ts, kind, value, series FROM ${samplesOf(since, ofSeries, hasReach)}) AS samples
      LEFT ANY JOIN ${parts} AS parts USING (series)`,
  });
}

/**
 * The samples of the series selected, each (series, time) once: of several rows FINAL takes the one that came last,
 * merged already or not. PREWHERE runs before FINAL does, which its columns allow as they are alike in such rows.
 */
function samplesOf(since: 'from' | 'lookback', ofSeries: string, hasReach: boolean): string {
  if (since === 'lookback' && hasReach) return withPredecessors(ofSeries);
  return `metric_points FINAL PREWHERE ${ofSeries} AND ts >= ${instant(since)} AND ts < ${instant('to')}`;
}

/** The condition on the tables that have a row for each point or period. */
function seriesOf(selector: MetricSelector): string {
  const condition = 'service_id = {service:UUID} AND metric = {metric:String}';
  if (selector.matchers.length === 0) return condition;
  return `${condition} AND series IN (SELECT series FROM metric_series WHERE ${seriesConditions(selector)})`;
}

/** Returns the condition for the rows of `metric_series` that a selector matches. */
export function seriesConditions(selector: MetricSelector): string {
  return seriesMeeting(labelConditions(selector));
}

/** The same without the service and the metric. */
export function labelConditions({ matchers }: MetricSelector): string[] {
  return matchers.map(conditionOf);
}

function seriesMeeting(conditions: readonly string[]): string {
  return ['service_id = {service:UUID}', 'metric = {metric:String}', ...conditions].join(' AND ');
}

function instant(parameter: 'from' | 'lookback' | 'to'): string {
  return `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;
}

/** A map gives the empty text for a label that it lacks, as selectors have it. */
function conditionOf({ operator }: LabelMatcher, index: number): string {
  const [value, match] = [`tags[{label_${index}:String}]`, `{match_${index}:String}`];
  switch (operator) {
    case '=':
      return `${value} = ${match}`;
    case '!=':
      return `${value} != ${match}`;
    case '=~':
      return `match(${value}, ${match})`;
    case '!~':
      return `NOT match(${value}, ${match})`;
  }
}

function isPattern(operator: MatchOperator): boolean {
  return operator === '=~' || operator === '!~';
}

/** SQL: labels without those of a bucket. */
export function withoutBounds(labels: string): string {
  return `mapFilter((name, value) -> name != 'le' AND name != '${RANGE_LABEL}', ${labels})`;
}

/** SQL: labels without those of a bucket, as one number: what the buckets of one histogram of one sender share. */
export function senderOf(labels: string): string {
  return `cityHash64(toString(${withoutBounds(labels)}))`;
}

/** Limit on layouts told apart; with more, all senders count as having one. */
const LAYOUTS_MAX = 32;

/**
 * SQL: the series of a metric with their labels as `tags`, and as `layout` a text for the bounds that the sender of a
 * classic bucket has. It is empty where all have the same.
 */
export const SERIES_WITH_LAYOUTS = `(
  SELECT series, tags,
    repeat(toString(bounds), le != '' AND uniqExactIf(bounds, le != '') OVER () BETWEEN 2 AND ${LAYOUTS_MAX}) AS layout
  FROM (
    SELECT series, tags, le, cityHash64(toString(arraySort(groupUniqArray(le) OVER (PARTITION BY sender, le = '')))) AS bounds
    FROM (
      SELECT series, any(tags) AS tags, tags['le'] AS le, ${senderOf('tags')} AS sender FROM metric_series AS seen
      WHERE service_id = {service:UUID} AND metric = {metric:String} GROUP BY series)))`;

/**
 * SQL: what sets a bucket of a histogram apart beside its bound or range (`apart`), its bound and its range, with blanks
 * between them. `labels` is an expression for a label.
 */
export function bucketTextOf(apart: string, labels: (name: string) => string): string {
  // No texts behind commas, which the embedded engine refuses where a subquery reads a table.
  return `(${apart} || ' ' || ${labels("'le'")} || ' ' || ${labels(`'${RANGE_LABEL}'`)})`;
}

export const BUCKET_OF_LAYOUT = bucketTextOf('any(layout)', (name) => `any(tags[${name}])`);

export function readBucketText(text: string): { readonly apart: string; readonly le: string; readonly range: string } {
  const first = text.indexOf(' ');
  const second = text.indexOf(' ', first + 1);
  return { apart: text.slice(0, first), le: text.slice(first + 1, second), range: text.slice(second + 1) };
}
