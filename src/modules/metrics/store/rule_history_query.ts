import { type Aggregation, COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import type { WindowPart } from '#modules/metrics/decide/sliding_windows.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { BUCKET_OF_LAYOUT, selectorParameters, SERIES_WITH_LAYOUTS, seriesConditions } from './metric_query.ts';
import { COUNTER, IS_COUNTING, IS_SAMPLE, STALE, START } from '#modules/metrics/store/point_rows.ts';
import { withPredecessors } from '#modules/metrics/store/predecessors.ts';
import { growthOver } from './rollups.ts';

/** The windows of a rule that end at each full minute from `firstMs` to `lastMs`. */
export interface RuleHistoryQuery {
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
  readonly aggregation: Aggregation;
  readonly windowMinutes: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** Older points are as if they were not there. */
  readonly keptSince: Temporal.Instant;
}

interface BoundQuery {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * Returns the query for the parts of windows, minute by minute: a row for each pair of the minute from which points count and the one
 * before which they do, oldest first. A point of exactly the full minute belongs to the window that ends there, so a slot
 * ends with it; as in `ruleWindow`.
 */
export function ruleHistoryQueryOf(query: RuleHistoryQuery): BoundQuery {
  return { sql: PARTS[query.aggregation](conditionOf(query)), parameters: parametersOf(query) };
}

/** The same of what each bucket of a histogram gained: before the others a column with its `BUCKET_OF_LAYOUT`. */
export function bucketHistoryQueryOf(query: RuleHistoryQuery): BoundQuery {
  const samples = `(SELECT ts, kind, value, series FROM ${samplesSince('lookback', conditionOf(query))}) AS samples
    LEFT ANY JOIN (SELECT series, ${BUCKET_OF_LAYOUT} AS bucket FROM ${SERIES_WITH_LAYOUTS} GROUP BY series) AS buckets
    USING (series)`;
  return { sql: growthOf(samples, 'bucket, '), parameters: parametersOf(query) };
}

function conditionOf({ selector }: RuleHistoryQuery): string {
  if (selector.matchers.length === 0) return '';
  return ` AND series IN (SELECT series FROM metric_series WHERE ${seriesConditions(selector)})`;
}

function parametersOf(query: RuleHistoryQuery): Record<string, unknown> {
  const { serviceId, selector, windowMinutes, firstMs, lastMs, keptSince } = query;
  const kept = keptSince.epochMilliseconds;
  const from = Math.max(firstMs + 1 - windowMinutes * 60_000, kept);
  return {
    ...selectorParameters(serviceId, selector),
    from,
    lookback: Math.max(from - COUNTER_LOOKBACK_MS, kept),
    reach: Math.max(from - COUNTER_REACH_MS, kept),
    to: lastMs + 1,
    window: windowMinutes,
  };
}

/** Row of a part: from, until, count and value. Whole numbers of 64 bits are written as texts. */
type Row = readonly (number | string)[];

export function toWindowPart([from, until, count, value]: Row): WindowPart {
  return { from: Number(from), until: Number(until), count: Number(count), value: toFinite(value) };
}

/** JSON has no infinity: a sum beyond the range of numbers is the largest of them. */
function toFinite(value: number | string | undefined): number {
  if (value === 'inf') return Number.MAX_VALUE;
  return value === '-inf' ? -Number.MAX_VALUE : Number(value) || 0;
}

const slotOf = (ms: string): string => `intDiv(${ms} + 59999, 60000)`;
const SLOT = `${slotOf('toUnixTimestamp64Milli(ts)')} AS slot`;

type ToSql = (condition: string) => string;

/** The meanings of an aggregation over a window (`rule_query.ts`), each point told once with the windows that hold it. */
const PARTS: Readonly<Record<Aggregation, ToSql>> = {
  avg: overAllSamples('sum(value)'),
  count: overAllSamples('0.'),
  min: overAllSamples('min(value)'),
  max: overAllSamples('max(value)'),
  // The newest sample of a series counts until its next one, or until it leaves the window.
  last: (condition) => `
    SELECT slot, until, count(), sum(newest) FROM (
      SELECT slot, newest, newest_kind, least(slot + {window:Int64},
        leadInFrame(slot, 1, slot + {window:Int64}) OVER (
          PARTITION BY series ORDER BY slot ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)) AS until
      FROM (
        SELECT series, ${SLOT}, argMax(value, ts) AS newest, argMax(kind, ts) AS newest_kind
        FROM ${samplesSince('from', condition)} WHERE kind != ${START} GROUP BY series, slot))
    WHERE newest_kind != ${STALE} GROUP BY slot, until ORDER BY slot, until`,
  sum: (condition) => growthOf(samplesSince('lookback', condition), ''),
};

/** A counter's sample grew by nothing in windows that do not reach the sample before it. */
function growthOf(samples: string, apart: '' | 'bucket, '): string {
  return `
    SELECT ${apart}slot, part.1 AS until, sum(part.2), sum(part.3) FROM (
      SELECT ${apart}${SLOT}, kind, value, toUnixTimestamp64Milli(ts) AS at,
        lagInFrame(toNullable(value)) OVER before_it AS previous,
        lagInFrame(toNullable(toUnixTimestamp64Milli(ts))) OVER before_it AS previous_at,
        lagInFrame(kind) OVER before_it AS previous_kind,
        multiIf(kind != ${COUNTER}, value, previous IS NULL, 0,
          ${growthOver('value', 'assumeNotNull(previous)')}) AS added,
        if(kind = ${COUNTER} AND previous IS NOT NULL,
          least(at, assumeNotNull(previous_at) + if(previous_kind = ${COUNTER}, ${COUNTER_REACH_MS}, ${COUNTER_LOOKBACK_MS})),
          at) AS counts_until
      FROM ${samples}
      WHERE kind != ${STALE}
      WINDOW before_it AS (PARTITION BY series, ${IS_COUNTING} ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
    ARRAY JOIN [(slot + {window:Int64}, toInt64(1), toFloat64(0)),
      (${slotOf('counts_until')} + {window:Int64}, toInt64(0), toFloat64(added))] AS part
    WHERE at >= {from:Int64} AND kind != ${START} AND (part.2 = 1 OR part.3 != 0)
    GROUP BY ${apart}slot, until ORDER BY ${apart}slot, until`;
}

function overAllSamples(aggregate: string): ToSql {
  return (condition) => `
    SELECT slot, slot + {window:Int64} AS until, count(), ${aggregate} FROM (
      SELECT ${SLOT}, value FROM ${samplesSince('from', condition)} WHERE ${IS_SAMPLE})
    GROUP BY slot ORDER BY slot`;
}

/**
 * Selects samples as in metric_query.ts, each (series, time) once: of several rows FINAL takes the one that came last.
 */
function samplesSince(since: 'from' | 'lookback', condition: string): string {
  const ofSeries = `service_id = {service:UUID} AND metric = {metric:String}${condition}`;
  if (since === 'lookback') return withPredecessors(ofSeries);
  return `metric_points FINAL PREWHERE ${ofSeries}
    AND ts >= fromUnixTimestamp64Milli({${since}:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;
}
