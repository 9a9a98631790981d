import { isCounted, type PointKind } from '#modules/metrics/decide/point.ts';
import type { SingleValueKind } from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { ClickHouseStore, readRows } from '#storage/clickhouse/read_rows.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { LOOKED_AT, SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { selectorParameters, senderOf, seriesConditions, withoutBounds } from './metric_query.ts';
import { IS_SAMPLE } from '#modules/metrics/store/point_rows.ts';

export interface MetricEntry {
  readonly name: string;
  readonly lastAt: Temporal.Instant;
  /** Whether it stands for the series of a histogram: `name_bucket`, `name_count`, `name_sum` … */
  readonly isHistogram: boolean;
  /** Series that had points in the hour before the newest; of a histogram, those of its count. */
  readonly seriesCount: number;
  /** Null when its newest points are not kept any more. */
  readonly kind: PointKind | null;
}

export interface MetricSearch {
  /** Words that each have to occur in the name, in any case. */
  readonly words: readonly string[];
  readonly sort: 'name' | 'series';
  readonly offset: number;
  readonly limit: number;
}

export interface LabelEntry {
  readonly label: string;
  /** Numbers of its values, and of the series that carry it. */
  readonly valueCount: number;
  readonly seriesCount: number;
  /** The most frequent first. */
  readonly values: { readonly value: string; readonly seriesCount: number }[];
}

export interface LabelSearch {
  readonly selector: MetricSelector;
  /** Time since which the listed series had points. */
  readonly since: Temporal.Instant;
  /** Listed label; all when null. */
  readonly label: string | null;
  /** Part of the names of the labels, in any case; absent for all. */
  readonly labelText?: string;
  /** Part of the values, in any case. */
  readonly text: string;
  readonly valuesMax: number;
  /** Whether the series are the buckets of a histogram: those of one sender count as one, without their bounds. */
  readonly areBuckets?: boolean;
}

/** Label of points that came by a DSN, which stands in pages that anybody reads. */
export const SENT_BY_DSN = ['sent_by', 'dsn'] as const;

/** Returns those of the metrics of which series have come by an ingestion key of the service. */
export async function findMetricsOfKey(
  client: ClickHouseClient,
  serviceId: Id<'service'>,
  metrics: readonly string[],
): Promise<string[]> {
  const [label, value] = SENT_BY_DSN;
  const rows = await readRows<[metric: string]>(
    client,
    `SELECT DISTINCT metric FROM metric_series
     WHERE service_id = {service:UUID} AND metric IN {metrics:Array(String)} AND tags[{label:String}] != {value:String}`,
    { service: uuidOf(serviceId), metrics, label, value },
  );
  return rows.map(([metric]) => metric);
}

/**
 * Returns the kind of the newest point that the selector means; null without points. Of deltas, a window without points
 * says that nothing happened, once others show that somebody sends.
 */
export async function findKind(
  client: ClickHouseClient,
  { serviceId, selector, keptMs }: { serviceId: Id<'service'>; selector: MetricSelector; keptMs: number },
): Promise<PointKind | null> {
  const ask = async <Row>(query: string, parameters: Record<string, unknown>): Promise<Row | undefined> => {
    const settings = { ...SEES_ALL_ACKNOWLEDGED, max_execution_time: SECONDS_MAX };
    const all = { ...selectorParameters(serviceId, selector), ...parameters };
    return (await readRows<Row>(client, query, all, settings))[0];
  };
  const newest = await ask<[series: string, at: string]>(
    `SELECT toString(series), toUnixTimestamp64Milli(last_at) FROM metric_series
       WHERE ${seriesConditions(selector)} AND last_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
       ORDER BY last_at DESC LIMIT 1`,
    { since: keptMs },
  );
  if (newest === undefined) return null;
  const kind = await ask<[kind: PointKind]>(
    `SELECT argMax(kind, ts) FROM metric_points
       PREWHERE service_id = {service:UUID} AND metric = {metric:String} AND series = {series:UInt64}
         AND toStartOfHour(ts) = toStartOfHour(fromUnixTimestamp64Milli({at:Int64}, 'UTC'))
       WHERE ${IS_SAMPLE} HAVING count() > 0`,
    { series: newest[0], at: newest[1] },
  );
  return kind?.[0] ?? null;
}

/** Series and newest points of each from which an interval is read, and the time in which they lie. */
const INTERVAL_OF = { series: 10, points: 30, hours: 6 } as const;
/** Points of a series that an interval is read from, at least. */
const INTERVAL_POINTS_MIN = 4;
/** Factor of the usual distance up to which nearly all others lie where a series is sent at an interval. */
const REGULAR_FACTOR = 1.2;

/**
 * Returns the interval in milliseconds at which the series that the selector means were sent in the last hours before
 * `toMs`: that of nine series in ten. Null where they come at none, or too seldom to tell.
 */
export async function findInterval(
  client: ClickHouseClient,
  { serviceId, selector, fromMs, toMs }: { serviceId: Id<'service'>; selector: MetricSelector } & Span,
): Promise<number | null> {
  const since = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";
  const rows = await readRows<[interval: number | null]>(
    client,
    `SELECT quantileExactOrNull(0.9)(usual) FROM (
       SELECT arrayPopFront(arrayDifference(arraySort(groupUniqArray(toUnixTimestamp64Milli(ts))))) AS gaps,
         arrayReduce('quantileExact(0.5)', gaps) AS usual, arrayReduce('quantileExact(0.8)', gaps) AS long
       FROM (SELECT series, ts FROM metric_points
         PREWHERE service_id = {service:UUID} AND metric = {metric:String} AND series IN (
             SELECT series FROM metric_series WHERE ${seriesConditions(selector)} AND last_at >= ${since}
             ORDER BY last_at DESC, series LIMIT 1 BY series LIMIT ${INTERVAL_OF.series})
           AND ts >= ${since} AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
         WHERE ${IS_SAMPLE} ORDER BY series, ts DESC LIMIT ${INTERVAL_OF.points} BY series)
       GROUP BY series HAVING length(gaps) >= ${INTERVAL_POINTS_MIN - 1} AND long <= usual * ${REGULAR_FACTOR})`,
    {
      ...selectorParameters(serviceId, selector),
      from: Math.max(fromMs, toMs - INTERVAL_OF.hours * 3_600_000),
      to: toMs,
    },
    { ...LOOKED_AT, max_execution_time: SECONDS_MAX },
  );
  return rows[0]?.[0] ?? null;
}

/** Half-open, in epoch milliseconds. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

const LABELS_MAX = 100;
/** The names of which there are buckets. */
const HISTOGRAMS = `SELECT substring(metric, 1, length(metric) - length('_bucket')) FROM metric_names
  WHERE service_id = {service:UUID} AND endsWith(metric, '_bucket') GROUP BY metric`;
const SECONDS_MAX = 10;

/**
 * Lists the metrics of a service, and the labels by which their series differ. The caller has checked that it is the
 * organization's.
 */
export class MetricCatalog extends ClickHouseStore {
  /** Metrics with points of `since` or later, those of one histogram as one; `total` counts all that match. */
  async search(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    { words, sort, offset, limit }: MetricSearch,
  ): Promise<{ metrics: MetricEntry[]; total: number }> {
    const matching = words.map((_, index) => `AND positionCaseInsensitiveUTF8(metric, {word_${index}:String}) > 0`);
    const seen = `SELECT metric, max(last_at) AS seen_at, replaceRegexpOne(metric, '_(bucket|count|sum|min|max)$', '') AS family,
        family != metric AND family IN (${HISTOGRAMS}) AS is_histogram
      FROM metric_names WHERE service_id = {service:UUID} ${matching.join(' ')}
      GROUP BY metric HAVING seen_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`;
    const names = `SELECT if(is_histogram, family, metric) AS shown, is_histogram AS folded, max(seen_at) AS newest,
        if(is_histogram, concat(family, '_count'), metric) AS counted
      FROM (${seen}) AS seen GROUP BY shown, folded, counted`;
    const bySeries = `LEFT JOIN (
        SELECT metric AS counted, uniqExact(series) AS many FROM metric_series AS seen
        INNER JOIN (SELECT counted AS metric, max(newest) AS latest FROM (${names}) AS names GROUP BY counted) AS wanted USING (metric)
        WHERE service_id = {service:UUID} AND last_at >= latest - INTERVAL 1 HOUR GROUP BY metric) AS counts
      USING (counted) ORDER BY many DESC,`;
    const rows = await this.#rows<
      [name: string, isHistogram: 0 | 1, newest: string, counted: string, total: string, series: string]
    >(
      `SELECT shown, folded, toUnixTimestamp64Milli(newest), counted, count() OVER (), ${sort === 'series' ? 'many' : '0'} FROM (${names}) AS names
       ${sort === 'series' ? bySeries : 'ORDER BY'} shown, folded LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
      {
        service: uuidOf(serviceId),
        since: since.epochMilliseconds,
        limit,
        offset,
        ...Object.fromEntries(words.map((word, index) => [`word_${index}`, word])),
      },
    );
    const newest = new Map(rows.flatMap(([name, isHistogram, at]) => (isHistogram === 1 ? [] : [[name, Number(at)]])));
    // Names alone, and then the series of those of the page, are found in less time than both joined.
    const [kinds, counts] = await Promise.all([
      this.#kinds(serviceId, newest),
      sort === 'series'
        ? new Map(rows.map(([, , , counted, , series]) => [counted, Number(series)]))
        : this.#countSeries(serviceId, new Map(rows.map(([, , at, counted]) => [counted, Number(at)]))),
    ]);
    const uncounted = rows.flatMap(([name, isHistogram, , counted]) =>
      isHistogram === 1 && (counts.get(counted) ?? 0) === 0 ? [`${name}_bucket`] : [],
    );
    const ofBuckets = await this.#countSenders(serviceId, uncounted, since);
    return {
      metrics: rows.map(([name, isHistogram, at, counted]) => ({
        name,
        isHistogram: isHistogram === 1,
        lastAt: fromEpochMilliseconds(Number(at)),
        seriesCount: ofBuckets.get(`${name}_bucket`) ?? counts.get(counted) ?? 0,
        kind: isHistogram === 1 ? null : (kinds.get(name) ?? null),
      })),
      total: Number(rows[0]?.[4] ?? 0),
    };
  }

  /** Counts the series of each metric that had points in the hour before its newest; one without any is absent. */
  async #countSeries(serviceId: Id<'service'>, newest: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    if (newest.size === 0) return new Map();
    const rows = await this.#rows<[name: string, many: string]>(
      `SELECT metric, uniqExact(series) FROM metric_series WHERE service_id = {service:UUID} AND metric IN {names:Array(String)}
         AND toUnixTimestamp64Milli(last_at) >= transform(metric, {names:Array(String)}, {newest:Array(Int64)}, toInt64(0)) - 3600000
       GROUP BY metric`,
      { service: uuidOf(serviceId), names: [...newest.keys()], newest: [...newest.values()] },
    );
    return new Map(rows.map(([name, many]) => [name, Number(many)]));
  }

  /** Counts the series of histograms that are sent without their counts, by the names of their buckets. */
  async #countSenders(
    serviceId: Id<'service'>,
    names: readonly string[],
    since: Temporal.Instant,
  ): Promise<Map<string, number>> {
    if (names.length === 0) return new Map();
    const rows = await this.#rows<[name: string, many: string]>(
      `SELECT metric, uniqExact(${senderOf('tags')}) FROM metric_series WHERE service_id = {service:UUID}
         AND metric IN {names:Array(String)} AND last_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY metric`,
      { service: uuidOf(serviceId), names, since: since.epochMilliseconds },
    );
    return new Map(rows.map(([name, many]) => [name, Number(many)]));
  }

  /**
   * Returns the metrics among `names` that have arrived and can answer no quantile: no series with that label, and no
   * buckets.
   */
  async findWithoutQuantiles(
    serviceId: Id<'service'>,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, SingleValueKind>> {
    const families = await this.findAllWithoutQuantiles(names.map((metricName) => ({ serviceId, metricName })));
    return families.get(serviceId) ?? new Map();
  }

  /** The same of several services, by service. */
  async findAllWithoutQuantiles(
    asked: readonly { readonly serviceId: Id<'service'>; readonly metricName: string }[],
  ): Promise<ReadonlyMap<Id<'service'>, ReadonlyMap<string, SingleValueKind>>> {
    if (asked.length === 0) return new Map();
    const services = new Map(asked.map(({ serviceId }) => [uuidOf(serviceId), serviceId]));
    const names = [...new Set(asked.map(({ metricName }) => metricName))];
    const wanted = new Set(asked.map(({ serviceId, metricName }) => `${uuidOf(serviceId)} ${metricName}`));
    const rows = await this.#rows<[service: string, name: string, newest: string]>(
      `SELECT toString(service_id), metric, toUnixTimestamp64Milli(max(last_at)) FROM metric_names
       WHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
         AND (service_id, metric) NOT IN (SELECT service_id, metric FROM metric_series
           WHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)} AND tags['quantile'] != '')
         AND (service_id, concat(metric, '_bucket')) NOT IN (SELECT service_id, metric FROM metric_names
           WHERE service_id IN {services:Array(UUID)} AND metric IN {buckets:Array(String)})
       GROUP BY service_id, metric`,
      { services: [...services.keys()], metrics: names, buckets: names.map((name) => `${name}_bucket`) },
    );
    const matching = rows.filter(([service, name]) => wanted.has(`${service} ${name}`));
    const kinds = await this.#kindsOf(matching);
    const byService = new Map<Id<'service'>, Map<string, SingleValueKind>>();
    for (const [service, name] of matching) {
      const serviceId = services.get(service);
      if (serviceId === undefined) continue;
      const serviceKinds = byService.get(serviceId) ?? new Map<string, SingleValueKind>();
      serviceKinds.set(name, isCounted(kinds.get(`${service} ${name}`)) ? 'counter' : 'gauge');
      byService.set(serviceId, serviceKinds);
    }
    return byService;
  }

  /** The kind of each metric's newest point, by service and name. */
  async #kindsOf(
    newest: readonly (readonly [service: string, name: string, newest: string])[],
  ): Promise<Map<string, PointKind>> {
    if (newest.length === 0) return new Map();
    const rows = await this.#rows<[service: string, name: string, kind: PointKind]>(
      `SELECT toString(service_id), metric, argMax(kind, ts) FROM metric_points
       PREWHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
         AND (service_id, metric, toStartOfHour(ts)) IN arrayZip({services:Array(UUID)}, {metrics:Array(String)},
           arrayMap(at -> toStartOfHour(fromUnixTimestamp64Milli(at, 'UTC')), {newest:Array(Int64)}))
       WHERE ${IS_SAMPLE} GROUP BY service_id, metric`,
      {
        services: newest.map(([service]) => service),
        metrics: newest.map(([, name]) => name),
        newest: newest.map(([, , at]) => Number(at)),
      },
    );
    return new Map(rows.map(([service, name, kind]) => [`${service} ${name}`, kind]));
  }

  /** The kind of a metric's newest point, looked up in the hour of that point. */
  async #kinds(serviceId: Id<'service'>, newest: ReadonlyMap<string, number>): Promise<Map<string, PointKind>> {
    const service = uuidOf(serviceId);
    const kinds = await this.#kindsOf([...newest].map(([name, at]) => [service, name, String(at)]));
    return new Map(
      [...newest.keys()].flatMap((name) => {
        const kind = kinds.get(`${service} ${name}`);
        return kind === undefined ? [] : [[name, kind]];
      }),
    );
  }

  /** Whether a series that the selector means had points since then. */
  async hasSeries(serviceId: Id<'service'>, selector: MetricSelector, since: Temporal.Instant): Promise<boolean> {
    const rows = await this.#rows<[number]>(
      `SELECT 1 FROM metric_series
       WHERE ${seriesConditions(selector)} AND last_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') LIMIT 1`,
      { ...selectorParameters(serviceId, selector), since: since.epochMilliseconds },
    );
    return rows.length > 0;
  }

  /** The labels of a metric's series by name, at most 100, and how many series there are. */
  async describeLabels(
    serviceId: Id<'service'>,
    { selector, since, label, labelText = '', text, valuesMax, areBuckets = false }: LabelSearch,
  ): Promise<{ seriesCount: number; labelCount: number; labels: LabelEntry[] }> {
    const [key, tags] = areBuckets ? [senderOf('tags'), withoutBounds('tags')] : ['series', 'tags'];
    const series = `SELECT ${key} AS sender, any(${tags}) AS labels FROM metric_series
      WHERE ${seriesConditions(selector)} AND last_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY sender`;
    const parameters = {
      ...selectorParameters(serviceId, selector),
      since: since.epochMilliseconds,
      wanted: label ?? '',
      label_text: labelText,
      text,
      values_max: valuesMax,
    };
    const ofLabel = `${label === null ? '' : 'AND label = {wanted:String}'} AND positionCaseInsensitiveUTF8(label, {label_text:String}) > 0`;
    const [[count], totals, values] = await Promise.all([
      this.#rows<[series: string]>(`SELECT count() FROM (${series})`, parameters),
      this.#rows<[label: string, values: string, series: string, labels: string]>(
        `SELECT label, uniqExact(value), count(), count() OVER () FROM (${series})
         ARRAY JOIN mapKeys(labels) AS label, mapValues(labels) AS value
         WHERE positionCaseInsensitiveUTF8(value, {text:String}) > 0 ${ofLabel}
         GROUP BY label ORDER BY label LIMIT ${LABELS_MAX}`,
        parameters,
      ),
      this.#rows<[label: string, value: string, series: string]>(
        `SELECT label, value, count() AS many FROM (${series})
         ARRAY JOIN mapKeys(labels) AS label, mapValues(labels) AS value
         WHERE positionCaseInsensitiveUTF8(value, {text:String}) > 0 ${ofLabel}
         GROUP BY label, value ORDER BY label, many DESC, value LIMIT {values_max:UInt32} BY label`,
        parameters,
      ),
    ]);
    const byLabel = Map.groupBy(values, ([name]) => name);
    return {
      seriesCount: Number(count?.[0] ?? 0),
      labelCount: Number(totals[0]?.[3] ?? 0),
      labels: totals.map(([name, valueCount, seriesCount]) => ({
        label: name,
        valueCount: Number(valueCount),
        seriesCount: Number(seriesCount),
        values: (byLabel.get(name) ?? []).map(([, value, seriesOfValue]) => ({
          value,
          seriesCount: Number(seriesOfValue),
        })),
      })),
    };
  }

  async #rows<Row>(query: string, parameters: Record<string, unknown>): Promise<Row[]> {
    return await this.rows<Row>(query, parameters, { ...LOOKED_AT, max_execution_time: SECONDS_MAX });
  }
}
