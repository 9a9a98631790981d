import { COUNTER_LOOKBACK_MS, type Aggregation } from '#modules/metrics/decide/aggregation.ts';
import { type MeasuredValue, type MissingSeries, ruleWindow } from '#modules/rules/decide/breach.ts';
import { RANGE_LABEL } from '#modules/metrics/decide/exponential_buckets.ts';
import {
  BESIDE_BUCKETS,
  besideBuckets,
  type BesideBuckets,
  quantileQuestionOf,
} from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { readCheckedExpression } from '#modules/metrics/decide/selector.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  BUCKET_OF_LAYOUT,
  selectorParameters,
  SERIES_WITH_LAYOUTS,
  seriesConditions,
} from '#modules/metrics/store/metric_query.ts';
import { expressionValue } from '#modules/metrics/decide/ratio.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ClickHouseStore, readRows } from '#storage/clickhouse/read_rows.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { COUNTER, DELTA, STALE, START } from '#modules/metrics/store/point_rows.ts';
import { growthOver } from '#modules/metrics/store/rollups.ts';
import { boundsWithin, quantileWithin, toSlot, valueOf, type Windows } from '#modules/rules/store/rule_answers.ts';

/** A rule whose condition is false over the series that still send. */
export interface MissingQuestion {
  readonly serviceId: Id<'service'>;
  /** Metric, with or without a selector, or a ratio of two. */
  readonly metricName: string;
  readonly windowMinutes: number;
  readonly aggregation: Aggregation;
  /** Whether values above the threshold breach, or those below. */
  readonly breachesAbove: boolean;
  /**
   * Time of the last counted breach of the incident: series that sent nothing in the window before it are not looked
   * for.
   */
  readonly breachedAt: Temporal.Instant;
  /** Whether only series are meant that are slower than the window, and not late by their own interval. */
  readonly isOfSlow?: boolean;
  /** Older points are as if they were not there. */
  readonly keptSince: Temporal.Instant;
}

const NAMED_MAX = 5;
const NAME_LENGTH_MAX = 120;
const QUERY_SECONDS_MAX = 5;
/** Time after the breach in which all points are read; later only the newest of a stretch of this length. */
const READ_MS = 24 * 3_600_000;
/** A series is late after so many of its intervals and this time. */
const LATE_INTERVALS = 1.5;
const LATE_MS = 30_000;

/** Looks for series that fell silent while an incident of their rule was open. */
export class MissingSeriesReader extends ClickHouseStore {
  /**
   * The series that sent data when the breach was counted and have fallen silent: their newest point is older than the
   * window, is a stale marker, or is late by the series' own interval. Null when there are none. The value is that of the
   * window over all others, together with the last window of each of these. Deltas and counts of samples say what
   * happened, so silence means that nothing did: they are never missing. Of an interval nothing is known before the
   * second sample.
   */
  async find(question: MissingQuestion, now: Temporal.Instant): Promise<MissingSeries | null> {
    const { sides, factor } = readCheckedExpression(question.metricName);
    const missing: MissingSeries[] = [];
    for (const [side, selector] of sides.entries()) {
      // What raises a ratio is a high upper and a low lower side.
      const breachesAbove = (question.breachesAbove === (side === 0)) === factor > 0;
      missing.push(await this.#findSide({ ...question, breachesAbove }, selector, now));
    }
    const count = missing.reduce((sum, side) => sum + side.count, 0);
    if (count === 0) return null;
    const names = [...new Set(missing.flatMap((side) => side.names))].slice(0, NAMED_MAX);
    return { ...expressionValue(missing, factor), names, count };
  }

  /** The same of one side; with no names where nothing is missing. */
  async #findSide(question: MissingQuestion, selector: MetricSelector, now: Temporal.Instant): Promise<MissingSeries> {
    const { aggregation } = question;
    const { toMs } = ruleWindow(1, now);
    const asked = quantileQuestionOf(selector);
    if (asked === null && aggregation === 'count') return { value: null, names: [], count: 0 };
    const windows = await readWindows(this.client, { ...question, selector, aggregation, isOfBuckets: false }, toMs);
    if (asked === null || windows.windows.size > 0) {
      const value = aggregation === 'avg' ? windows.mean : valueOf(aggregation, windows.windows.get('') ?? {}, 0);
      return missingOf(windows, { value });
    }
    const buckets = { ...question, selector: asked.buckets, aggregation: 'sum', isOfBuckets: true } as const;
    const bucketWindows = await readWindows(this.client, buckets, toMs);
    const windowsBeside = new Map<BesideBuckets, Windows>();
    for (const what of BESIDE_BUCKETS) {
      const read = {
        ...buckets,
        selector: besideBuckets(asked.buckets, what),
        aggregation: 'max',
        isOfBuckets: false,
      } as const;
      windowsBeside.set(what, (await readWindows(this.client, read, toMs)).windows.get('') ?? {});
    }
    const bounds = boundsWithin((what) => windowsBeside.get(what) ?? {});
    return missingOf(
      bucketWindows,
      quantileWithin(asked.quantile, bucketWindows.windows, 0, bounds) ?? { value: null },
    );
  }
}

function missingOf({ names, count }: Found, measured: MeasuredValue): MissingSeries {
  return { ...measured, names, count };
}

interface Read extends MissingQuestion {
  readonly selector: MetricSelector;
  readonly isOfBuckets: boolean;
}

interface Found {
  readonly windows: ReadonlyMap<string, Windows>;
  /** Mean that counts each missing series as if it had sent for a whole window at its own interval. */
  readonly mean: number | null;
  readonly names: readonly string[];
  readonly count: number;
}

/** Bucket, the columns of `rule_answers.ts`, the mean, how many series are missing, and the worst of them by their keys. */
type Row = readonly [string, Cell[], Cell[], Cell, string, [Cell, string][]];
type Cell = number | string;

async function readWindows(client: ClickHouseClient, read: Read, toMs: number): Promise<Found> {
  const rows = await ask<Row>(client, windowsSql(read), parametersOf(read, toMs));
  const windows = new Map<string, Windows>();
  let count = 0;
  const worst: [number, string][] = [];
  let mean: number | null = null;
  for (const [bucket, samples, growth, weighed, missing, series] of rows) {
    const columns = toSlot(0, growth).columns;
    const hasCounters = (columns[1] ?? 0) > 0;
    windows.set(bucket, { samples: toSlot(0, samples).columns, growth: hasCounters ? columns : null });
    mean = Number(weighed);
    count += Number(missing);
    for (const [badness, key] of series) worst.push([Number(badness), key]);
  }
  if (count === 0) return { windows, mean, names: [], count };
  const keys = worst.toSorted(([a], [b]) => a - b).map(([, key]) => key);
  return { windows, mean, names: await readNames(client, read, keys.slice(0, NAMED_MAX)), count };
}

async function readNames(client: ClickHouseClient, read: Read, series: readonly string[]): Promise<string[]> {
  const { serviceId, selector } = read;
  const rows = await ask<[series: string, labels: Record<string, string>]>(
    client,
    `SELECT toString(series), any(tags) FROM metric_series
      WHERE service_id = {service:UUID} AND metric = {metric:String} AND series IN {series:Array(UInt64)}
      GROUP BY series`,
    { ...selectorParameters(serviceId, { ...selector, matchers: [] }), series: series.map(BigInt) },
  );
  const labelsOf = new Map(rows);
  return [...new Set(series.map((key) => nameOf(selector.name, labelsOf.get(key) ?? {})))];
}

/** Labels of a series as people read them; a bucket's own are no name. */
function nameOf(metric: string, labels: Record<string, string>): string {
  const labelEntries = Object.entries(labels).filter(([label]) => !['le', RANGE_LABEL, 'quantile'].includes(label));
  if (labelEntries.length === 0) return metric;
  const text = labelEntries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ');
  return text.length > NAME_LENGTH_MAX ? `${text.slice(0, NAME_LENGTH_MAX)}…` : text;
}

/** Time before a breach in which the interval of a slow series is seen. */
const SLOW_REACH_MS = 15 * 60_000;

function parametersOf(read: Read, toMs: number): Record<string, unknown> {
  const { serviceId, selector, windowMinutes, breachesAbove, breachedAt, isOfSlow = false, keptSince } = read;
  const windowMs = windowMinutes * 60_000;
  const kept = keptSince.epochMilliseconds;
  const aliveMs = breachedAt.epochMilliseconds - windowMs;
  return {
    ...selectorParameters(serviceId, selector),
    from: Math.max(toMs - windowMs, kept),
    to: toMs,
    window: windowMs,
    alive: aliveMs,
    kept,
    oldest: Math.max(aliveMs - windowMs - (isOfSlow ? SLOW_REACH_MS : COUNTER_LOOKBACK_MS), kept),
    until: breachedAt.epochMilliseconds + READ_MS,
    again: toMs - Math.max(READ_MS, windowMs + COUNTER_LOOKBACK_MS),
    sign: breachesAbove ? -1 : 1,
  };
}

/** Conditions without lists: the embedded engine refuses texts behind a comma where a subquery reads a table. */
const IS_SAMPLE = `(kind != ${STALE} AND kind != ${START})`;
const IS_COUNTING = `(kind = ${COUNTER} OR kind = ${START})`;
const instant = (parameter: string): string => `fromUnixTimestamp64Milli({${parameter}:Int64})`;

function windowsSql({ selector, aggregation, isOfBuckets, isOfSlow = false }: Read): string {
  const ofSeries =
    selector.matchers.length === 0
      ? ''
      : `AND series IN (SELECT series FROM metric_series WHERE ${seriesConditions(selector)})`;
  const points = `SELECT series, toUnixTimestamp64Milli(ts) AS ms, value, kind FROM metric_points FINAL
    PREWHERE service_id = {service:UUID} AND metric = {metric:String} AND ts >= ${instant('oldest')}
      AND ts < ${instant('to')} AND (ts < ${instant('until')} OR ts >= ${instant('again')}) ${ofSeries}`;
  // A name that stands for an expression is put in wherever it is used: each step names only columns of the one before.
  const newest = `SELECT series, maxIf(ms, ${IS_SAMPLE}) AS last_ms, minIf(ms, ${IS_SAMPLE}) AS first_ms,
      maxIf(ms, kind = ${STALE}) AS stale_ms, countIf(${IS_SAMPLE}) AS known,
      argMax(kind, if(${IS_SAMPLE}, ms, 0)) AS last_kind
    FROM (${points}) GROUP BY series HAVING last_ms >= {alive:Int64}`;
  const spaced = `SELECT series, last_ms, stale_ms, known, last_kind,
      if(known > 1, (last_ms - first_ms) / (known - 1), 0) AS interval_ms
    FROM (${newest})`;
  const isLate = `{to:Int64} - last_ms > ${LATE_MS} + ${LATE_INTERVALS} * interval_ms`;
  const isMissing = isOfSlow
    ? `last_ms < {from:Int64} AND known > 1 AND NOT (${isLate}) AND NOT (stale_ms > last_ms)`
    : `last_ms < {from:Int64} OR stale_ms > last_ms OR (known > 1 AND ${isLate})`;
  const judged = `SELECT series, last_ms, last_kind, interval_ms, ${isMissing} AS is_missing FROM (${spaced})`;
  const ends = `SELECT series, is_missing, interval_ms,
      if(is_missing, last_ms + 1 - {window:Int64}, {from:Int64}) AS begin_ms
    FROM (${judged}) WHERE NOT (is_missing AND last_kind = ${DELTA})`;
  const counted = aggregation === 'sum' ? `arraySort(groupArrayIf((ms, value, kind), ${IS_COUNTING})) AS counted,` : '';
  const perSeries = `SELECT series, any(is_missing) AS missing, any(begin_ms) AS began_ms, any(interval_ms) AS every_ms, ${counted}
      countIf(is_in) AS n, sumIf(value, is_in) AS total, minIf(value, is_in) AS least, maxIf(value, is_in) AS greatest,
      countIf(is_in AND kind != ${COUNTER}) AS others, sumIf(value, is_in AND kind != ${COUNTER}) AS others_total,
      argMaxIf(value, ms, is_in) AS newest, countIf(is_in AND kind = ${COUNTER}) AS counters
    FROM (SELECT *, ms >= begin_ms AND ${IS_SAMPLE} AS is_in
      FROM (${points}) AS points INNER JOIN (${ends}) AS ends USING (series)
      WHERE ms >= begin_ms - ${COUNTER_LOOKBACK_MS})
    GROUP BY series HAVING n > 0`;
  const grown =
    aggregation === 'sum'
      ? `arraySum(arrayMap((point, previous) -> if(point.1 < began_ms OR point.3 != ${COUNTER}, 0,
          ${growthOver('point.2', 'previous.2')}),
          counted, arraySlice(arrayPushFront(counted, counted[1]), 1, length(counted))))`
      : 'toFloat64(0)';
  const weighed = `SELECT *, ${grown} AS grown,
      if(missing AND every_ms > 0, greatest(toFloat64(n), {window:Int64} / every_ms), toFloat64(n)) AS weight
    FROM (${perSeries})`;
  const buckets = isOfBuckets
    ? `LEFT ANY JOIN (SELECT series, ${BUCKET_OF_LAYOUT} AS bucket FROM ${SERIES_WITH_LAYOUTS} GROUP BY series) AS buckets
        USING (series)`
    : '';
  return `SELECT ${isOfBuckets ? 'bucket' : "''"} AS bucket_text,
      [toFloat64(sum(n)), sum(total), min(least), max(greatest), toFloat64(sum(others)), sum(others_total),
        toFloat64(count()), sum(newest)],
      [sum(grown), toFloat64(sum(counters))],
      sum(weight * total / n) / sum(weight),
      countIf(missing),
      arraySlice(arraySort(groupArrayIf(({sign:Int8} * if(counters > 0, grown, total / n), toString(series)), missing)), 1, ${NAMED_MAX})
    FROM (${weighed}) AS series_windows ${buckets} GROUP BY bucket_text`;
}

async function ask<Answer>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Answer[]> {
  return await readRows<Answer>(client, query, parameters, {
    ...SEES_ALL_ACKNOWLEDGED,
    max_execution_time: QUERY_SECONDS_MAX,
    output_format_json_quote_denormals: 1,
  });
}
