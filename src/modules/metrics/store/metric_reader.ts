import pLimit from 'p-limit';

import type { BucketValue } from '#modules/metrics/decide/buckets.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { isOfWholeHours, readPeriodOf } from '#modules/metrics/decide/rollup_plan.ts';
import { quantileQuestionOf, type SingleValueKind } from '#modules/metrics/decide/quantile.ts';
import type { RuleValues } from '#modules/rules/decide/replay.ts';
import { slideWindow } from '#modules/metrics/decide/sliding_windows.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { LOOKED_AT, SEES_ALL_ACKNOWLEDGED } from '#storage/clickhouse/insert_rows.ts';
import { ExemplarStore } from '#modules/metrics/store/exemplar_store.ts';
import { type Heatmap, HistogramReader, tooMuch } from '#modules/metrics/store/histogram_reader.ts';
import {
  type HourlyCounts,
  queryHourlyCounts,
  queryRecentActivity,
  type RecentActivity,
} from '#storage/clickhouse/hourly_counts.ts';
import { ClickHouseStore, readLong, tooManyDays } from '#storage/clickhouse/read_rows.ts';
import { ruleHistoryQueryOf, type RuleHistoryQuery, toWindowPart } from '#modules/metrics/store/rule_history_query.ts';
import { RollupState } from './rollups.ts';
import { IS_SAMPLE } from '#modules/metrics/store/point_rows.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import { findInterval, findKind, MetricCatalog } from '#modules/metrics/store/metric_catalog.ts';
import { bucketQueryOf, type ChartQuery, chartQueryOf, type MetricQuery, rankQueryOf } from './metric_query.ts';

const NAMES_MAX = 10_000;

/** The values of one part of a chart; see `chartQueryOf`. */
export interface ChartPart {
  /** The place of the label's value from 1; 0 for all other series, or for all of a chart that is not split. */
  readonly part: number;
  readonly points: readonly BucketValue[];
}

/** The values of a label with the greatest aggregates, and how many values there are. */
export interface RankedValues {
  readonly values: readonly string[];
  readonly count: number;
}

/** Reads of metric points. The caller has checked that the service is the organization's. */
export class MetricReader extends ClickHouseStore {
  readonly #histograms: HistogramReader;
  readonly #rollups: RollupState;
  /** Histories are long: a few at a time, so that nothing else waits for the store. */
  readonly #histories = pLimit(2);
  readonly catalog: MetricCatalog;
  readonly exemplars: ExemplarStore;

  constructor(client: ClickHouseClient) {
    super(client);
    this.#rollups = new RollupState(client);
    this.catalog = new MetricCatalog(client);
    this.#histograms = new HistogramReader(client, this.catalog);
    this.exemplars = new ExemplarStore(client);
  }

  /** Number of queries to this process for a quantile of something that has none, by its kind. */
  get refusedQuantiles(): Readonly<Record<SingleValueKind, number>> {
    return this.#histograms.refused;
  }

  /**
   * The buckets that hold data, oldest first. Where the selector asks for the quantile of a histogram, it is that of all
   * observations of a bucket, whatever the aggregation. Throws `invalid_input` for a quantile of what has none.
   */
  async query(asked: MetricQuery): Promise<BucketValue[]> {
    const query = await this.withRollups(asked);
    const values = await this.#values(query);
    const question = values.length > 0 ? null : quantileQuestionOf(query.selector);
    if (question === null) return values;
    const parts = await this.#histograms.queryChart({ ...query, split: null, columnMs: null }, question);
    return parts.get(0) ?? [];
  }

  /** Returns the kind of the newest point that the selector means; null without points. */
  async findKind({
    serviceId,
    selector,
    keptSince,
  }: Pick<MetricQuery, 'serviceId' | 'selector' | 'keptSince'>): Promise<PointKind | null> {
    return await findKind(this.client, { serviceId, selector, keptMs: keptSince.epochMilliseconds });
  }

  /** Returns the longest interval at which these are sent, in milliseconds; 0 if none is known. */
  async findInterval(
    serviceId: Id<'service'>,
    selectors: readonly MetricSelector[],
    span: { readonly fromMs: number; readonly toMs: number },
  ): Promise<number> {
    const asked = selectors.flatMap((selector) => [selector, quantileQuestionOf(selector)?.buckets ?? []].flat());
    const intervals = await Promise.all(
      asked.map(async (selector) => (await findInterval(this.client, { serviceId, selector, ...span })) ?? 0),
    );
    return Math.max(0, ...intervals);
  }

  async #values(query: MetricQuery): Promise<BucketValue[]> {
    const { sql, parameters } = bucketQueryOf(query);
    const rows = await this.rows<[start: string, value: number | string]>(sql, parameters, {
      ...LOOKED_AT,
      output_format_json_quote_denormals: 1,
    });
    return rows.map(([start, value]) => ({ at: Number(start), value: toFinite(value) }));
  }

  /** The values of a chart, by part; throws `invalid_input` when it takes too long, and as `query`. */
  async queryChart(asked: ChartQuery): Promise<ChartPart[]> {
    const query = await this.withRollups(asked);
    const rows = await this.#chartRows<[part: number, start: string, value: number | string]>(chartQueryOf(query));
    const question = rows.length > 0 ? null : quantileQuestionOf(query.selector);
    if (question !== null) {
      return [...(await this.#histograms.queryChart(query, question))].map(([part, points]) => ({ part, points }));
    }
    return [...Map.groupBy(rows, ([part]) => part)].map(([part, ofPart]) => ({
      part,
      points: ofPart.map(([, start, value]) => ({ at: Number(start), value: toFinite(value) })),
    }));
  }

  /** The observations of a histogram by time and size; throws `invalid_input` for what is none. */
  async queryHeatmap(asked: ChartQuery): Promise<Heatmap> {
    return await this.#histograms.queryHeatmap(await this.withRollups(asked));
  }

  /**
   * Ranks the values of the label by which a chart is split best: those with the greatest aggregates over its whole
   * window.
   */
  async rankValues(asked: MetricQuery, label: string, limit: number): Promise<RankedValues> {
    const query = await this.withRollups(asked);
    const rows = await this.#chartRows<[value: string, count: string]>(rankQueryOf(query, label, limit));
    const question = rows.length > 0 ? null : quantileQuestionOf(query.selector);
    if (question === null) return { values: rows.map(([value]) => value), count: Number(rows[0]?.[1] ?? 0) };
    const values = await this.#histograms.rankValues(query, question, label);
    return { values: values.slice(0, limit), count: values.length };
  }

  /**
   * Buckets of whole hours are read from rollups, as far as these agree with the points. A query that is about to be asked
   * in several ways looks once for which do; those that were not looked up are with each question. It holds for some seconds.
   */
  async withRollups<Query extends Omit<MetricQuery, 'selector'>>(query: Query): Promise<Query> {
    const { serviceId, buckets, keptSince } = query;
    if (query.rollups !== undefined || !isOfWholeHours(buckets)) return query;
    const period = readPeriodOf(buckets, keptSince.epochMilliseconds);
    return { ...query, rollups: await this.#rollups.findValid(serviceId, period) };
  }

  async #chartRows<Row>(query: ReturnType<typeof chartQueryOf>): Promise<Row[]> {
    return await readLong<Row>(this.client, query, tooMuch);
  }

  /** The newest value of each of these series since then, by its key; absent for one that has none, or has ended. */
  async newestValues(
    serviceId: Id<'service'>,
    series: readonly { readonly name: string; readonly key: bigint }[],
    since: Temporal.Instant,
  ): Promise<ReadonlyMap<bigint, number>> {
    const rows = await this.rows<[series: string, value: number | string, kind: string]>(
      `SELECT toString(series), argMax(value, ts), argMax(kind, ts) FROM metric_points FINAL
          PREWHERE service_id = {service:UUID} AND metric IN {metrics:Array(String)} AND series IN {series:Array(UInt64)}
            AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          GROUP BY metric, series`,
      {
        service: uuidOf(serviceId),
        metrics: [...new Set(series.map(({ name }) => name))],
        series: series.map(({ key }) => key),
        since: since.epochMilliseconds,
      },
      { ...SEES_ALL_ACKNOWLEDGED, max_execution_time: 10, output_format_json_quote_denormals: 1 },
    );
    return new Map(
      rows.flatMap(([key, value, kind]) => (kind === 'stale' ? [] : [[BigInt(key), Number(value)] as const])),
    );
  }

  /** Distinct names that bear points of `since` or later, sorted; at most 10,000. */
  async listNames(serviceId: Id<'service'>, since: Temporal.Instant): Promise<string[]> {
    const rows = await this.rows<[metric: string]>(
      `SELECT metric FROM metric_names WHERE service_id = {service:UUID}
          GROUP BY metric HAVING max(last_at) >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          ORDER BY metric LIMIT ${NAMES_MAX}`,
      { service: uuidOf(serviceId), since: since.epochMilliseconds },
    );
    return rows.map(([metric]) => metric);
  }

  /**
   * The value of each window of a rule, oldest first; null without data. Throws `invalid_input` when there are too many
   * points in them, and as `query`.
   */
  async readHistory(query: RuleHistoryQuery): Promise<RuleValues> {
    return await this.#histories(async () => {
      const rows = await readLong<(number | string)[]>(this.client, ruleHistoryQueryOf(query), tooManyDays);
      const question = rows.length > 0 ? null : quantileQuestionOf(query.selector);
      if (question !== null) return await this.#histograms.readHistory(query, question);
      const slots = { first: query.firstMs / 60_000, last: query.lastMs / 60_000 };
      return { values: slideWindow(rows.map(toWindowPart), query.aggregation, slots), moreThan: new Set<number>() };
    });
  }

  /**
   * Returns the time of the newest point of each metric, in epoch milliseconds, by `serviceId name`; a metric without
   * points is absent.
   */
  async findLastArrivals(
    wanted: readonly { readonly serviceId: Id<'service'>; readonly metricName: string }[],
  ): Promise<ReadonlyMap<string, number>> {
    const places = new Map(wanted.map((metric) => [`${metric.serviceId} ${metric.metricName}`, metric]));
    if (places.size === 0) return new Map();
    const services = new Map([...places.values()].map(({ serviceId }) => [uuidOf(serviceId), serviceId]));
    const rows = await this.rows<[service: string, metric: string, at: string]>(
      `SELECT toString(service_id), metric, toUnixTimestamp64Milli(max(last_at)) FROM metric_names
          WHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
          GROUP BY service_id, metric`,
      {
        services: [...services.keys()],
        metrics: [...new Set([...places.values()].map(({ metricName }) => metricName))],
      },
    );
    return new Map(rows.map(([service, metric, at]) => [`${services.get(service)} ${metric}`, Number(at)]));
  }

  /** Whether any of the services has sent points that are still kept. */
  async hasAny(serviceIds: readonly Id<'service'>[]): Promise<boolean> {
    if (serviceIds.length === 0) return false;
    const rows = await this.rows<[number]>(
      'SELECT 1 FROM metric_names WHERE service_id IN {services:Array(UUID)} LIMIT 1',
      { services: serviceIds.map(uuidOf) },
    );
    return rows.length > 0;
  }

  /** The points of each service since then, by hour. */
  async countByHour(serviceIds: readonly Id<'service'>[], since: Temporal.Instant): Promise<HourlyCounts> {
    return await queryHourlyCounts(
      this.client,
      `SELECT service_id, toUnixTimestamp(toStartOfHour(ts)) AS hour, count() FROM metric_points
       WHERE service_id IN {services:Array(UUID)} AND ${IS_SAMPLE}
         AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
         AND toStartOfHour(ts) >= toStartOfHour(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
       GROUP BY service_id, hour`,
      serviceIds,
      since,
    );
  }

  /** Returns the time of the newest point of each service; a service without kept points is absent. */
  async lastPoints(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, Temporal.Instant>> {
    if (serviceIds.length === 0) return new Map();
    const rows = await this.rows<[service: string, lastAt: number | string]>(
      `SELECT service_id, toUnixTimestamp64Milli(max(last_at)) FROM metric_names
          WHERE service_id IN {services:Array(UUID)} GROUP BY service_id`,
      { services: serviceIds.map(uuidOf) },
    );
    const idOf = new Map(serviceIds.map((serviceId) => [uuidOf(serviceId), serviceId]));
    return new Map(
      rows.flatMap(([uuid, lastAt]) => {
        const serviceId = idOf.get(uuid);
        return serviceId === undefined ? [] : [[serviceId, fromEpochMilliseconds(Number(lastAt))] as const];
      }),
    );
  }

  /**
   * Returns the time of the newest point and the number of points since `since`; hours after `since` are counted, the
   * rest looked up.
   */
  async recentActivity(serviceId: Id<'service'>, since: Temporal.Instant): Promise<RecentActivity> {
    return await queryRecentActivity(
      this.client,
      `SELECT
         greatest(toUnixTimestamp64Milli(max(ts)),
           (SELECT toUnixTimestamp64Milli(max(last_at)) FROM metric_names WHERE service_id = {service:UUID})),
         count()
       FROM metric_points WHERE service_id = {service:UUID} AND ${IS_SAMPLE}
         AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
         AND toStartOfHour(ts) >= toStartOfHour(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))`,
      serviceId,
      since,
    );
  }
}

/** JSON has no infinity: a sum beyond the range of numbers is the largest of them. */
function toFinite(value: number | string): number {
  if (typeof value === 'number') return value;
  if (value === 'inf') return Number.MAX_VALUE;
  return value === '-inf' ? -Number.MAX_VALUE : 0;
}
