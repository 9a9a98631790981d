import { uuidOf } from '#kernel/ids.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { COUNTER, type MetricOf, START } from '#modules/metrics/store/point_rows.ts';

/**
 * Series whose earlier samples are looked for at a time. Beyond these a first sample has grown by nothing, as that of a
 * new series.
 */
export const ORPHANS_MAX = 500;

/** Condition without a list: the embedded engine refuses texts behind a comma where a subquery reads a table. */
const IS_COUNTING = `(kind = ${COUNTER} OR kind = ${START})`;

/** Parameters of a query that reads the points of one metric, in epoch milliseconds. */
type Time = 'reach' | 'lookback' | 'from' | 'to';

/**
 * SQL: the points of `[lookback, to)`, and of counters that have none before `from` there, the newest sample since `reach`.
 * `ofSeries` is a condition on the service, the metric and its series.
 */
export function withPredecessors(ofSeries: string): string {
  const at = (name: Time): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
  const since = (from: Time, to: Time): string => `ts >= ${at(from)} AND ts < ${at(to)}`;
  return `(
    SELECT ts, kind, value, series FROM metric_points FINAL PREWHERE ${ofSeries} AND ${since('lookback', 'to')}
    UNION ALL
    SELECT newest_at AS ts, newest_kind AS kind, newest AS value, series FROM (
      SELECT series, max(ts) AS newest_at, argMax(kind, ts) AS newest_kind, argMax(value, ts) AS newest
      FROM metric_points FINAL PREWHERE ${ofSeries} AND ${since('reach', 'lookback')} AND series IN (
        SELECT arrayJoin(if(length(orphans) > ${ORPHANS_MAX}, [], orphans)) FROM (
          SELECT groupArray(${ORPHANS_MAX + 1})(series) AS orphans FROM (
            SELECT series FROM metric_points PREWHERE ${ofSeries} AND ${since('lookback', 'to')}
            WHERE ${IS_COUNTING} GROUP BY series HAVING min(ts) >= ${at('from')} AND argMin(kind, ts) = ${COUNTER})))
      WHERE ${IS_COUNTING} GROUP BY series)
    WHERE newest_kind = ${COUNTER})`;
}

/** The first sample of a counter in what is read, which has none before it there. */
export interface Orphan {
  /** Key of the metric, by `metricKeyOf`. */
  readonly metric: string;
  /** A whole number of 64 bits. */
  readonly series: string;
  readonly atMs: number;
  readonly value: number;
}

/** The newest sample before that. */
export interface Predecessor {
  readonly atMs: number;
  readonly value: number;
}

/** Epoch milliseconds: `[sinceMs, untilMs)`. */
interface Span {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * The series of these metrics whose first counting point of the span is a sample at `firstMs` or later; none where they are
 * more than `ORPHANS_MAX`, as when many series are new.
 */
export async function findOrphans(
  client: ClickHouseClient,
  metrics: readonly MetricOf[],
  { sinceMs, untilMs, firstMs }: Span & { readonly firstMs: number },
): Promise<Orphan[]> {
  const rows = await ask<[string, string, string, number | string]>(
    client,
    `SELECT ${METRIC}, toString(series), min(toUnixTimestamp64Milli(ts)) AS first_ms, argMin(value, ts)
     FROM metric_points FINAL ${OF_SPAN} WHERE ${IS_COUNTING} GROUP BY service_id, metric, series
     HAVING first_ms >= {first:Int64} AND argMin(kind, ts) = ${COUNTER} LIMIT ${ORPHANS_MAX + 1}`,
    { ...parametersOf(metrics, { sinceMs, untilMs }), first: firstMs },
  );
  if (rows.length > ORPHANS_MAX) return [];
  return rows.map(([metric, series, at, value]) => ({ metric, series, atMs: Number(at), value: Number(value) }));
}

/** Finds the last count of series in the span, by `predecessorKey`; absent after a start of a process, or without samples. */
export async function findPredecessors(
  client: ClickHouseClient,
  metrics: readonly MetricOf[],
  series: readonly string[],
  span: Span,
): Promise<ReadonlyMap<string, Predecessor>> {
  if (series.length === 0 || span.sinceMs >= span.untilMs) return new Map();
  const rows = await ask<[string, string, string, number | string]>(
    client,
    `SELECT ${METRIC}, toString(series), max(toUnixTimestamp64Milli(ts)), argMax(value, ts)
     FROM metric_points FINAL ${OF_SPAN} AND series IN {series:Array(UInt64)}
     WHERE ${IS_COUNTING} GROUP BY service_id, metric, series HAVING argMax(kind, ts) = ${COUNTER}`,
    { ...parametersOf(metrics, span), series: series.map(BigInt) },
  );
  return new Map(
    rows.map(([metric, seriesText, at, value]) => [
      predecessorKey(metric, seriesText),
      { atMs: Number(at), value: Number(value) },
    ]),
  );
}

export function predecessorKey(metric: string, series: string): string {
  return `${series} ${metric}`;
}

const METRIC = "concat(toString(service_id), ' ', metric)";

/** Conditions on rows, the times first, as in rule_query.ts. */
const OF_SPAN = `PREWHERE ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({until:Int64}, 'UTC')
  AND service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
  AND (service_id, metric) IN arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)})`;

function parametersOf(metrics: readonly MetricOf[], { sinceMs, untilMs }: Span): Record<string, unknown> {
  const services = metrics.map(({ serviceId }) => uuidOf(serviceId));
  const names = metrics.map(({ name }) => name);
  return {
    since: sinceMs,
    until: untilMs,
    services: [...new Set(services)],
    metrics: [...new Set(names)],
    target_services: services,
    target_metrics: names,
  };
}

async function ask<Row>(client: ClickHouseClient, query: string, parameters: Record<string, unknown>): Promise<Row[]> {
  return await readRows<Row>(client, query, parameters, {
    ...SEES_ALL_ACKNOWLEDGED,
    max_execution_time: 10,
    output_format_json_quote_denormals: 1,
  });
}
