import type { PointKind } from '#modules/metrics/decide/point.ts';
import { STAMPS_OF_MS } from '#modules/metrics/decide/series_points.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';

/** A metric of a service, without labels. */
export interface MetricOf {
  readonly serviceId: Id<'service'>;
  readonly name: string;
}

/** The points of a series since some time, in order. */
interface SeriesRows {
  /** Key of the metric, as made by `metricKeyOf`. */
  readonly metric: string;
  /** A whole number of 64 bits. */
  readonly series: string;
  readonly stamps: Float64Array;
  readonly values: Float64Array;
}

export function metricKeyOf({ serviceId, name }: MetricOf): string {
  return `${uuidOf(serviceId)} ${name}`;
}

/** All that is stored of these metrics since a time, what lies ahead included; each (series, time) once, as rules see it. */
export async function readPointsSince(
  client: ClickHouseClient,
  metrics: readonly MetricOf[],
  sinceMs: number,
): Promise<SeriesRows[]> {
  const rows = await ask<[string, string, number[], (number | string)[]]>(client, POINTS, metrics, sinceMs);
  const firstStamp = sinceMs * STAMPS_OF_MS;
  return rows.map(([metric, series, offsets, values]) => ({
    metric,
    series,
    ...inOrder(
      Float64Array.from(offsets, (offset) => firstStamp + offset),
      Float64Array.from(values, toNumber),
    ),
  }));
}

/** Estimates the amount of each metric since a time, by its key: a point weighs 1, and a duplicate may count twice. */
export async function weighPointsSince(
  client: ClickHouseClient,
  metrics: readonly MetricOf[],
  { sinceMs, ofSeries }: { readonly sinceMs: number; readonly ofSeries: number },
): Promise<ReadonlyMap<string, number>> {
  const rows = await ask<[metric: string, points: string, series: string]>(client, COUNTS, metrics, sinceMs);
  return new Map(rows.map(([metric, points, series]) => [metric, Number(points) + ofSeries * Number(series)]));
}

async function ask<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  metrics: readonly MetricOf[],
  sinceMs: number,
): Promise<Row[]> {
  const services = metrics.map(({ serviceId }) => uuidOf(serviceId));
  const names = metrics.map(({ name }) => name);
  return await readRows<Row>(
    client,
    query,
    {
      since: sinceMs,
      services: [...new Set(services)],
      metrics: [...new Set(names)],
      target_services: services,
      target_metrics: names,
    },
    {
      ...SEES_ALL_ACKNOWLEDGED,
      max_execution_time: 10,
      max_result_bytes: RESULT_BYTES_MAX,
      result_overflow_mode: 'throw',
      output_format_json_quote_denormals: 1,
    },
  );
}

const RESULT_BYTES_MAX = String(64 * 1024 * 1024);

const METRIC = "concat(toString(service_id), ' ', metric)";

/** Conditions in the order of rule_query.ts: times first, then what the index finds. */
const SINCE = `PREWHERE ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
  AND service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
  AND (service_id, metric) IN arrayZip({target_services:Array(UUID)}, {target_metrics:Array(String)})`;

/** Offsets are stamps less that of the begin, which are shorter to write and to read. */
const POINTS = `
  SELECT ${METRIC}, toString(series),
    groupArray(toFloat64((toUnixTimestamp64Milli(ts) - {since:Int64}) * ${STAMPS_OF_MS} + CAST(kind, 'Int8'))),
    groupArray(value)
  FROM metric_points FINAL ${SINCE} GROUP BY service_id, metric, series`;

const COUNTS = `SELECT ${METRIC}, count(), uniq(series) FROM metric_points ${SINCE} GROUP BY service_id, metric`;

function inOrder(stamps: Float64Array, values: Float64Array): Pick<SeriesRows, 'stamps' | 'values'> {
  const isInOrder = stamps.every((stamp, index) => index === 0 || (stamps[index - 1] ?? 0) < stamp);
  if (isInOrder) return { stamps, values };
  const places = Uint32Array.from(stamps.keys()).sort((a, b) => (stamps[a] ?? 0) - (stamps[b] ?? 0));
  const sorted = (array: Float64Array): Float64Array => Float64Array.from(places, (place) => array[place] ?? 0);
  return { stamps: sorted(stamps), values: sorted(values) };
}

function toNumber(value: number | string): number {
  if (typeof value === 'number') return value;
  if (value === 'inf') return Infinity;
  return value === '-inf' ? -Infinity : Number.NaN;
}

const literal = (kind: PointKind): string => `'${kind}'`;

/** The kinds of points that queries treat differently, as SQL literals. */
export const STALE = literal('stale');
export const COUNTER = literal('counter');
export const START = literal('start');
export const DELTA = literal('delta');

/** A condition on rows: those that hold a value. */
export const IS_SAMPLE = `kind NOT IN (${STALE}, ${START})`;

/** A condition on rows: those that the growth of a counter is computed from. */
export const IS_COUNTING = `kind IN (${COUNTER}, ${START})`;
