import type { ClickHouseSettings } from '@clickhouse/client';
import pLimit from 'p-limit';

import type { BucketValue } from '#core/metrics/buckets.ts';
import { quantileOf, quantileQuestionOf } from '#core/metrics/quantile.ts';
import type { WindowPart } from '#core/metrics/sliding_windows.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { type HourlyCounts, queryHourlyCounts } from '#storage/clickhouse/hourly_counts.ts';
import { type RecentActivity, queryRecentActivity } from '#storage/clickhouse/recent_activity.ts';
import { ruleHistoryQueryOf, type RuleHistoryQuery, toWindowPart } from '#storage/clickhouse/rule_history_query.ts';
import { IS_SAMPLE } from '#storage/clickhouse/point_kind_sql.ts';
import { MetricCatalog } from '#storage/clickhouse/metric_catalog.ts';
import {
  bucketQueryOf,
  type ChartQuery,
  chartQueryOf,
  growthQueryOf,
  type MetricQuery,
  rankQueryOf,
} from '#storage/clickhouse/metric_query.ts';

const NAMES_MAX = 10_000;

/** For charts and histories, which may be of long periods and many series: who waits has given up after 10 s. */
const LONG_READ_LIMITS: ClickHouseSettings = {
  output_format_json_quote_denormals: 1,
  // A sample lies in the partition of its day, so no two rows of one sample lie in two.
  do_not_merge_across_partitions_select_final: 1,
  max_execution_time: 10,
  max_rows_to_read: '300000000',
  max_result_rows: '400000',
  result_overflow_mode: 'throw',
  max_memory_usage: '2000000000',
};
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
export class MetricReader {
  readonly #client: ClickHouseClient;
  /** Histories are long: a few at a time, so that nothing else waits for the store. */
  readonly #histories = pLimit(2);
  readonly catalog: MetricCatalog;

  constructor(client: ClickHouseClient) {
    this.#client = client;
    this.catalog = new MetricCatalog(client);
  }

  /**
   * The buckets that hold data, oldest first. Where the selector asks for the quantile of a histogram, it is that of all
   * observations of a bucket, whatever the aggregation. Throws `invalid_input` for a quantile of what has none.
   */
  async query(query: MetricQuery): Promise<BucketValue[]> {
    const values = await this.#values(query);
    const question = values.length > 0 ? null : quantileQuestionOf(query.selector);
    if (question === null) return values;
    const gains = await this.#gains({ ...query, selector: question.buckets });
    if (gains.length === 0) await this.#requireQuantiles(query, question.buckets.name);
    return [...Map.groupBy(gains, ({ at }) => at)].flatMap(([at, own]) => {
      const value = quantileOf(question.quantile, own);
      return value === null ? [] : [{ at, value }];
    });
  }

  /** What each bucket of a histogram gained, oldest first. */
  async #gains(query: MetricQuery) {
    const rows = await this.#chartRows<[start: string, labels: string, gain: number | string]>(growthQueryOf(query));
    return rows.map(([start, labels, gain]) => {
      const blank = labels.indexOf(' ');
      const [le, range] = [labels.slice(0, blank), labels.slice(blank + 1)];
      return { at: Number(start), le, range, growth: toFinite(gain) };
    });
  }

  /** Throws where the metric is there, but is neither a histogram nor a summary. */
  async #requireQuantiles({ serviceId, selector }: MetricQuery, buckets: string): Promise<void> {
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT countIf(metric = {metric:String} AND tags['quantile'] = ''), countIf(metric = {buckets:String} OR tags['quantile'] != '')
          FROM metric_series WHERE service_id = {service:UUID} AND metric IN ({metric:String}, {buckets:String})`,
        query_params: { service: uuidOf(serviceId), metric: selector.name, buckets },
        format: 'JSONCompactEachRow',
      });
      return await result.json<[plain: string, quantiles: string]>();
    });
    const [plain = 0, quantiles = 0] = (rows[0] ?? []).map(Number);
    if (plain === 0 || quantiles > 0) return;
    const message = `${selector.name} is neither a histogram nor a summary, so it has no quantile: leave the label out`;
    throw invalidInput([{ path: 'metricName', message }]);
  }

  async #values(query: MetricQuery): Promise<BucketValue[]> {
    const { sql, parameters } = bucketQueryOf(query);
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: sql,
        query_params: parameters,
        format: 'JSONCompactEachRow',
        clickhouse_settings: { output_format_json_quote_denormals: 1 },
      });
      return await result.json<[start: string, value: number | string]>();
    });
    return rows.map(([start, value]) => ({ at: Number(start), value: toFinite(value) }));
  }

  /** The values of a chart, by part; throws `invalid_input` when it takes too long. */
  async queryChart(query: ChartQuery): Promise<ChartPart[]> {
    if (query.split === null && query.columnMs === null && quantileQuestionOf(query.selector) !== null) {
      const points = await this.query(query);
      return points.length > 0 ? [{ part: 0, points }] : [];
    }
    const rows = await this.#chartRows<[part: number, start: string, value: number | string]>(chartQueryOf(query));
    return [...Map.groupBy(rows, ([part]) => part)].map(([part, own]) => ({
      part,
      points: own.map(([, start, value]) => ({ at: Number(start), value: toFinite(value) })),
    }));
  }

  /** By which values of the label a chart is split best: those with the greatest aggregates over its whole window. */
  async rankValues(query: MetricQuery, label: string, limit: number): Promise<RankedValues> {
    const rows = await this.#chartRows<[value: string, count: string]>(rankQueryOf(query, label, limit));
    return { values: rows.map(([value]) => value), count: Number(rows[0]?.[1] ?? 0) };
  }

  async #chartRows<Row>({ sql, parameters }: ReturnType<typeof chartQueryOf>): Promise<Row[]> {
    const rows = withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: sql,
        query_params: parameters,
        format: 'JSONCompactEachRow',
        clickhouse_settings: LONG_READ_LIMITS,
      });
      return await result.json<Row>();
    });
    return await rows.catch((error: unknown) => {
      if (!isTooMuch(error)) throw error;
      throw new AppError('invalid_input', 'this is too much to compute: choose a shorter period or fewer series', {
        cause: error,
      });
    });
  }

  /** Distinct names that bear points of `since` or later, sorted; at most 10,000. */
  async listNames(serviceId: Id<'service'>, since: Temporal.Instant): Promise<string[]> {
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT metric FROM metric_names WHERE service_id = {service:UUID}
          GROUP BY metric HAVING max(last_at) >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          ORDER BY metric LIMIT ${NAMES_MAX}`,
        query_params: { service: uuidOf(serviceId), since: since.epochMilliseconds },
        format: 'JSONCompactEachRow',
      });
      return await result.json<[metric: string]>();
    });
    return rows.map(([metric]) => metric);
  }

  /** What the windows of a rule are made of; see `slideWindow`. Throws `invalid_input` when there is too much of it. */
  async readWindowParts(query: RuleHistoryQuery): Promise<WindowPart[]> {
    const { sql, parameters } = ruleHistoryQueryOf(query);
    return await this.#histories(async () => {
      try {
        const rows = await withClickHouseErrors(async () => {
          const result = await this.#client.query({
            query: sql,
            query_params: parameters,
            format: 'JSONCompactEachRow',
            clickhouse_settings: LONG_READ_LIMITS,
          });
          return await result.json<(number | string)[]>();
        });
        return rows.map(toWindowPart);
      } catch (error) {
        if (!isTooMuch(error)) throw error;
        const message = 'this metric has too many points for so many days: take fewer days, or narrow its labels';
        throw invalidInput([{ path: 'days', message }]);
      }
    });
  }

  /** When the newest point of each of these metrics was, in epoch milliseconds, by `serviceId name`; absent for none. */
  async findLastArrivals(
    wanted: readonly { readonly serviceId: Id<'service'>; readonly metricName: string }[],
  ): Promise<ReadonlyMap<string, number>> {
    const places = new Map(wanted.map((one) => [`${one.serviceId} ${one.metricName}`, one]));
    if (places.size === 0) return new Map();
    const services = new Map([...places.values()].map(({ serviceId }) => [uuidOf(serviceId), serviceId]));
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT toString(service_id), metric, toUnixTimestamp64Milli(max(last_at)) FROM metric_names
          WHERE service_id IN {services:Array(UUID)} AND metric IN {metrics:Array(String)}
          GROUP BY service_id, metric`,
        query_params: {
          services: [...services.keys()],
          metrics: [...new Set([...places.values()].map(({ metricName }) => metricName))],
        },
        use_multipart_params_auto: true,
        format: 'JSONCompactEachRow',
      });
      return await result.json<[service: string, metric: string, at: string]>();
    });
    return new Map(rows.map(([service, metric, at]) => [`${services.get(service)} ${metric}`, Number(at)]));
  }

  /** Whether any of the services has sent points that are still kept. */
  async hasAny(serviceIds: readonly Id<'service'>[]): Promise<boolean> {
    if (serviceIds.length === 0) return false;
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: 'SELECT 1 FROM metric_names WHERE service_id IN {services:Array(UUID)} LIMIT 1',
        query_params: { services: serviceIds.map(uuidOf) },
        format: 'JSONCompactEachRow',
      });
      return await result.json<[number]>();
    });
    return rows.length > 0;
  }

  /** The points of each service since then, by hour. */
  async countByHour(serviceIds: readonly Id<'service'>[], since: Temporal.Instant): Promise<HourlyCounts> {
    return await queryHourlyCounts(
      this.#client,
      `SELECT service_id, toUnixTimestamp(toStartOfHour(ts)) AS hour, count() FROM metric_points
       WHERE service_id IN {services:Array(UUID)} AND ${IS_SAMPLE}
         AND ts >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
         AND toStartOfHour(ts) >= toStartOfHour(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
       GROUP BY service_id, hour`,
      serviceIds,
      since,
    );
  }

  /** When the newest point of each service was; a service that sent none that is still kept is absent. */
  async lastPoints(serviceIds: readonly Id<'service'>[]): Promise<Map<Id<'service'>, Temporal.Instant>> {
    if (serviceIds.length === 0) return new Map();
    const rows = await withClickHouseErrors(async () => {
      const result = await this.#client.query({
        query: `SELECT service_id, toUnixTimestamp64Milli(max(last_at)) FROM metric_names
          WHERE service_id IN {services:Array(UUID)} GROUP BY service_id`,
        query_params: { services: serviceIds.map(uuidOf) },
        format: 'JSONCompactEachRow',
      });
      return await result.json<[service: string, lastAt: number | string]>();
    });
    const idOf = new Map(serviceIds.map((serviceId) => [uuidOf(serviceId), serviceId]));
    return new Map(
      rows.flatMap(([uuid, lastAt]) => {
        const serviceId = idOf.get(uuid);
        return serviceId === undefined ? [] : [[serviceId, fromEpochMilliseconds(Number(lastAt))] as const];
      }),
    );
  }

  /** When the newest point was, and how many there are since then; the hours since then are counted, the rest looked up. */
  async recentActivity(serviceId: Id<'service'>, since: Temporal.Instant): Promise<RecentActivity> {
    return await queryRecentActivity(
      this.#client,
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

/** The query met one of its limits. */
function isTooMuch(error: unknown): boolean {
  const types = ['TIMEOUT_EXCEEDED', 'TOO_MANY_ROWS', 'TOO_MANY_ROWS_OR_BYTES', 'MEMORY_LIMIT_EXCEEDED'];
  return error instanceof Error && 'type' in error && types.some((type) => type === error.type);
}
