import { type Aggregation, COUNTER_LOOKBACK_MS } from '#core/metrics/aggregation.ts';
import type { Buckets } from '#core/metrics/buckets.ts';
import { anchoredPattern } from '#core/metrics/selector.ts';
import type { LabelMatcher, MatchOperator, MetricSelector } from '#core/metrics/read_selector.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { COUNTER, STALE } from '#storage/clickhouse/point_kind_sql.ts';

/** What is aggregated. */
export interface MetricQuery {
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
  readonly aggregation: Aggregation;
  readonly buckets: Buckets;
  /** Older points are as if they were not there, even where they still are. */
  readonly keptSince: Temporal.Instant;
}

interface BoundQuery {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * One row for each bucket that holds data: its start in epoch milliseconds, and its value. All that callers say is in
 * the parameters; what is joined here are our own words, and how many conditions there are.
 */
export function bucketQueryOf({ serviceId, selector, aggregation, buckets, keptSince }: MetricQuery): BoundQuery {
  const kept = keptSince.epochMilliseconds;
  const from = Math.max(buckets.fromMs, kept);
  return {
    sql: MEANINGS[aggregation](selector.matchers.map(conditionOf)),
    parameters: {
      ...selectorParameters(serviceId, selector),
      from,
      lookback: Math.max(from - COUNTER_LOOKBACK_MS, kept),
      to: buckets.toMs,
      step: buckets.stepMs,
    },
  };
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

/** A counter's first sample in reach grows by nothing; a value below the one before it is a reset to zero. */
const GROWTH = 'multiIf(previous IS NULL, 0, value < previous, value, value - previous)';

type ToSql = (conditions: readonly string[]) => string;

/** The meanings of core/metrics/aggregate.ts in SQL. */
const MEANINGS: Readonly<Record<Aggregation, ToSql>> = {
  avg: overAllSamples('avg(value)'),
  min: overAllSamples('min(value)'),
  max: overAllSamples('max(value)'),
  count: overAllSamples('toFloat64(count())'),
  last: (conditions) => `
    SELECT bucket, sum(newest) FROM (
      SELECT ${BUCKET}, argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
      FROM ${samples('from', conditions)} GROUP BY bucket, series)
    WHERE newest_kind != ${STALE} GROUP BY bucket ORDER BY bucket`,
  sum: (conditions) => `
    SELECT ${BUCKET}, sum(if(kind = ${COUNTER}, ${GROWTH}, value)) FROM (
      SELECT ts, kind, value, lagInFrame(toNullable(value)) OVER (
        PARTITION BY series, kind ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS previous
      FROM ${samples('lookback', conditions)} WHERE kind != ${STALE})
    WHERE ts >= ${instant('from')} GROUP BY bucket ORDER BY bucket`,
};

function overAllSamples(aggregate: string): ToSql {
  return (conditions) => `
    SELECT ${BUCKET}, ${aggregate} FROM ${samples('from', conditions)} WHERE kind != ${STALE}
    GROUP BY bucket ORDER BY bucket`;
}

/**
 * The samples of the series selected, each (series, time) once: of several rows FINAL takes the one that came last,
 * merged already or not. PREWHERE runs before FINAL does, which its columns allow as they are alike in such rows.
 */
function samples(since: 'from' | 'lookback', conditions: readonly string[]): string {
  return `metric_points FINAL PREWHERE ${[
    'service_id = {service:UUID}',
    'metric = {metric:String}',
    `ts >= ${instant(since)}`,
    `ts < ${instant('to')}`,
    ...(conditions.length > 0
      ? [`series IN (SELECT series FROM metric_series WHERE ${seriesMeeting(conditions)})`]
      : []),
  ].join(' AND ')}`;
}

/** Which rows of `metric_series` a selector means. */
export function seriesConditions(selector: MetricSelector): string {
  return seriesMeeting(selector.matchers.map(conditionOf));
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
