import {
  BESIDE_BUCKETS,
  besideBuckets,
  type BesideBuckets,
  type ValueBounds,
  valueBoundsOf,
} from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { slideWindow } from '#modules/metrics/decide/sliding_windows.ts';
import type { Id } from '#kernel/ids.ts';
import type { AppError } from '#kernel/errors.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import {
  type ChartQuery,
  chartQueryOf,
  labelConditions,
  labelValueQueryOf,
  type MetricQuery,
  selectorParameters,
} from '#modules/metrics/store/metric_query.ts';
import { readLong } from '#storage/clickhouse/read_long.ts';
import { type RuleHistoryQuery, ruleHistoryQueryOf, toWindowPart } from '#modules/metrics/store/rule_history_query.ts';

/** Counts of series of each kind beside the buckets. */
type SeriesCounts = Readonly<Record<BesideBuckets, number>>;

type Fail = (cause: unknown) => AppError;

const NO_SERIES: SeriesCounts = { min: 0, max: 0, count: 0 };
/** A series is announced again every five minutes; beyond these it has ended. */
const ANNOUNCED_MS = 10 * 60_000;
const EXTREMES = ['min', 'max'] as const;

/** Reads the least and greatest observations of a histogram whose buckets a query selects. */
export class HistogramBounds {
  readonly #client: ClickHouseClient;
  readonly #fail: Fail;

  /** `fail` makes the error that is thrown where there is too much to read. */
  constructor(client: ClickHouseClient, fail: Fail) {
    this.#client = client;
    this.#fail = fail;
  }

  /** Returns bounds by the part of a chart and the begin of a bucket of time, as rows have them. */
  async ofChart(query: ChartQuery): Promise<(part: number, start: string) => ValueBounds> {
    const { split } = query;
    const place = split === null ? "'0'" : 'toString(indexOf({parts:Array(String)}, tags[{split:String}]))';
    const counts = await this.#count(query, place, split === null ? {} : { split: split.label, parts: split.values });
    const [least, greatest] = await this.#extremes(counts, (selector, aggregation) =>
      chartQueryOf({ ...query, selector, aggregation, columnMs: null }),
    )(query.selector, ([part, start, value]) => [`${part} ${start}`, value]);
    return (part, start) => boundsAt(`${part} ${start}`, least, greatest, counts.get(String(part)));
  }

  /** Returns bounds by the value of a label, over the whole window. */
  async ofLabelValues(query: MetricQuery, label: string): Promise<(value: string) => ValueBounds> {
    const counts = await this.#count(query, 'tags[{split:String}]', { split: label });
    const [least, greatest] = await this.#extremes(counts, (selector, aggregation) =>
      labelValueQueryOf({ ...query, selector, aggregation }, label),
    )(query.selector, ([value, result]) => [String(value), result]);
    return (value) => boundsAt(value, least, greatest, counts.get(value));
  }

  /** Returns bounds by the place of a window of a rule. */
  async ofWindows(query: RuleHistoryQuery): Promise<(place: number) => ValueBounds> {
    const { firstMs, lastMs, keptSince, windowMinutes, selector } = query;
    const fromMs = Math.max(firstMs - windowMinutes * 60_000, keptSince.epochMilliseconds);
    const counts = await this.#count({ ...query, buckets: { fromMs } }, "'0'", {});
    const series = counts.get('0') ?? NO_SERIES;
    const slots = { first: firstMs / 60_000, last: lastMs / 60_000 };
    const read = async (aggregation: 'min' | 'max'): Promise<(number | null)[]> => {
      if (series[aggregation] === 0) return [];
      const asked = ruleHistoryQueryOf({ ...query, selector: besideBuckets(selector, aggregation), aggregation });
      const rows = await readLong<(number | string)[]>(this.#client, asked, this.#fail);
      return slideWindow(rows.map(toWindowPart), aggregation, slots);
    };
    const [least, greatest] = await Promise.all(EXTREMES.map(read));
    return (place) => valueBoundsOf({ min: least?.[place] ?? null, max: greatest?.[place] ?? null }, series);
  }

  #extremes(
    counts: ReadonlyMap<string, SeriesCounts>,
    queryOf: (selector: MetricSelector, aggregation: 'min' | 'max') => Parameters<typeof readLong>[1],
  ) {
    return async (
      buckets: MetricSelector,
      entryOf: (row: readonly (number | string)[]) => [string, number | string | undefined],
    ): Promise<Map<string, number>[]> =>
      await Promise.all(
        EXTREMES.map(async (aggregation) => {
          if ([...counts.values()].every((series) => series[aggregation] === 0)) return new Map<string, number>();
          const asked = queryOf(besideBuckets(buckets, aggregation), aggregation);
          const rows = await readLong<(number | string)[]>(this.#client, asked, this.#fail);
          return new Map(rows.map(entryOf).map(([key, value]) => [key, Number(value)]));
        }),
      );
  }

  /** The series beside the buckets that were seen lately, by the place that an SQL expression gives each. */
  async #count(
    { serviceId, selector, buckets: { fromMs } }: CountedSeries,
    place: string,
    parameters: Record<string, unknown>,
  ): Promise<ReadonlyMap<string, SeriesCounts>> {
    const columns = BESIDE_BUCKETS.map((what) => `uniqExactIf(series, metric = {name_${what}:String})`);
    const names = BESIDE_BUCKETS.map((what) => [`name_${what}`, besideBuckets(selector, what).name] as const);
    const rows = await readLong<[place: string, ...counts: string[]]>(
      this.#client,
      {
        sql: `SELECT ${place} AS place, ${columns.join(', ')} FROM metric_series
          WHERE ${['service_id = {service:UUID}', 'metric IN {names:Array(String)}', ...labelConditions(selector)].join(' AND ')}
            AND last_at >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')
          GROUP BY place`,
        parameters: {
          ...selectorParameters(serviceId, selector),
          ...Object.fromEntries(names),
          names: names.map(([, name]) => name),
          seen: fromMs - ANNOUNCED_MS,
          ...parameters,
        },
      },
      this.#fail,
    );
    return new Map(
      rows.map(([at, min, max, count]) => [at, { min: Number(min), max: Number(max), count: Number(count) }]),
    );
  }
}

interface CountedSeries {
  readonly serviceId: Id<'service'>;
  readonly selector: MetricSelector;
  readonly buckets: { readonly fromMs: number };
}

function boundsAt(
  key: string,
  least: ReadonlyMap<string, number> | undefined,
  greatest: ReadonlyMap<string, number> | undefined,
  series: SeriesCounts | undefined,
): ValueBounds {
  return valueBoundsOf({ min: least?.get(key) ?? null, max: greatest?.get(key) ?? null }, series ?? NO_SERIES);
}
