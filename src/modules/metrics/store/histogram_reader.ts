import { setImmediate } from 'node:timers/promises';

import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { BucketValue } from '#modules/metrics/decide/buckets.ts';
import {
  BESIDE_BUCKETS,
  besideBuckets,
  type BesideBuckets,
  type BucketGrowth,
  bucketsOfHistogram,
  heatmapOf,
  type HeatmapRow,
  noHeatmapText,
  noQuantilesText,
  quantileOf,
  type QuantileQuestion,
  type QuantileValue,
  type SingleValueKind,
  type ValueBounds,
  valueBoundsOf,
} from '#modules/metrics/decide/quantile.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { slideWindow } from '#modules/metrics/decide/sliding_windows.ts';
import {
  type ChartQuery,
  chartQueryOf,
  growthChartQueryOf,
  growthRankQueryOf,
  labelConditions,
  labelValueQueryOf,
  type MetricQuery,
  readBucketText,
  selectorParameters,
} from './metric_query.ts';
import type { MetricCatalog } from '#modules/metrics/store/metric_catalog.ts';
import {
  bucketHistoryQueryOf,
  type RuleHistoryQuery,
  ruleHistoryQueryOf,
  toWindowPart,
} from '#modules/metrics/store/rule_history_query.ts';
import type { RuleValues } from '#modules/rules/decide/replay.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { readLong, tooManyDays } from '#storage/clickhouse/read_rows.ts';

/** Counts of series of each kind beside the buckets. */
type SeriesCounts = Readonly<Record<BesideBuckets, number>>;

type Fail = (cause: unknown) => AppError;

const NO_SERIES: SeriesCounts = { min: 0, max: 0, count: 0 };
/** A series is announced again every five minutes; beyond these it has ended. */
const ANNOUNCED_MS = 10 * 60_000;
const EXTREMES = ['min', 'max'] as const;

/** Reads the least and greatest observations of a histogram whose buckets a query selects. */
class HistogramBounds {
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

/** Gains of the buckets of a histogram: their `bucketTextOf`, each with its gain. */
type Gains = readonly (readonly [text: string, gain: number | string])[];

/** The part of a chart that the next holds values of. */
type PartRow = readonly [part: number, start: string, gains: Gains];

/** Observations of a histogram by time and size. */
export interface Heatmap {
  /** Begin of each column, in epoch milliseconds. */
  readonly starts: readonly number[];
  readonly rows: readonly HeatmapRow[];
}

/** Buckets times minutes of a history; 80 MB. */
const HISTORY_VALUES_MAX = 10_000_000;
/** Minutes of a history whose quantiles are computed before others get their turn. */
const MINUTES_AT_ONCE = 200;
/** Values computed for each column whose least and greatest are shown. */
const VALUES_OF_COLUMN = 4;

/** Quantiles of histograms. The caller has checked that the service is the organization's. */
export class HistogramReader {
  readonly #client: ClickHouseClient;
  readonly #catalog: MetricCatalog;
  readonly #bounds: HistogramBounds;
  readonly #refused: Record<SingleValueKind, number> = { gauge: 0, counter: 0 };

  constructor(client: ClickHouseClient, catalog: MetricCatalog) {
    this.#client = client;
    this.#catalog = catalog;
    this.#bounds = new HistogramBounds(client, tooMuch);
  }

  /** Number of queries for a quantile of something that has none, by its kind. */
  get refused(): Readonly<Record<SingleValueKind, number>> {
    return this.#refused;
  }

  /**
   * The quantile of each bucket of time, by part of the chart; of each column the least and the greatest. Throws
   * `invalid_input` where the metric is neither a histogram nor a summary.
   */
  async queryChart(
    query: ChartQuery,
    { quantile, buckets: selector }: QuantileQuestion,
  ): Promise<Map<number, BucketValue[]>> {
    const { buckets, columnMs } = query;
    const { stepMs } = buckets;
    const fineMs = columnMs === null ? stepMs : Math.max(1, Math.floor(columnMs / stepMs / VALUES_OF_COLUMN)) * stepMs;
    const asked = { ...query, selector, buckets: { ...buckets, stepMs: fineMs } };
    const rows = await readLong<PartRow>(this.#client, growthChartQueryOf(asked), tooMuch);
    if (rows.length === 0) await this.#requireQuantiles(query);
    const boundsAt = rows.length === 0 ? null : await this.#bounds.ofChart(asked);
    const parts = new Map<number, BucketValue[]>();
    for (const [part, start, gains] of rows) {
      const measured = quantileOf(quantile, gains.map(toGrowth), boundsAt?.(part, start));
      if (measured === null) continue;
      const points = parts.get(part) ?? [];
      points.push({ at: Math.max(buckets.fromMs, Number(start)), ...toValue(measured) });
      parts.set(part, points);
    }
    if (columnMs === null) return parts;
    return new Map([...parts].map(([part, points]) => [part, extremesOf(points, columnMs)]));
  }

  /** The observations of each bucket of time, in rows; throws as `queryChart`, in its own words. */
  async queryHeatmap(query: ChartQuery): Promise<Heatmap> {
    const { name } = query.selector;
    const selector = bucketsOfHistogram(query.selector);
    const asked = { ...query, selector, split: null, columnMs: null };
    const rows = await readLong<PartRow>(this.#client, growthChartQueryOf(asked), tooMuch);
    const kind =
      rows.length > 0 ? undefined : (await this.#catalog.findWithoutQuantiles(query.serviceId, [name])).get(name);
    if (kind !== undefined) throw invalidInput([{ path: 'metricName', message: noHeatmapText(name, kind) }]);
    return {
      starts: rows.map(([, start]) => Math.max(query.buckets.fromMs, Number(start))),
      rows: heatmapOf(rows.map(([, , gains]) => gains.map(toGrowth))),
    };
  }

  /** The values of the label with the greatest quantiles over the whole window, the greatest first. */
  async rankValues(
    query: MetricQuery,
    { quantile, buckets: selector }: QuantileQuestion,
    label: string,
  ): Promise<string[]> {
    const asked = growthRankQueryOf({ ...query, selector }, label);
    const rows = await readLong<readonly [value: string, gains: Gains]>(this.#client, asked, tooMuch);
    const boundsOf = rows.length === 0 ? null : await this.#bounds.ofLabelValues({ ...query, selector }, label);
    return rows
      .map(([value, gains]) => ({ value, result: quantileOf(quantile, gains.map(toGrowth), boundsOf?.(value)) }))
      .flatMap(({ value, result }) => (result === null ? [] : [{ value, result: result.value }]))
      .sort((a, b) => b.result - a.result || (a.value < b.value ? -1 : 1))
      .map(({ value }) => value);
  }

  /** The quantile of each window of a rule, oldest first; throws as `queryChart`, and when there is too much in them. */
  async readHistory(query: RuleHistoryQuery, { quantile, buckets: selector }: QuantileQuestion): Promise<RuleValues> {
    const slots = { first: query.firstMs / 60_000, last: query.lastMs / 60_000 };
    const minutes = slots.last - slots.first + 1;
    const asked = bucketHistoryQueryOf({ ...query, selector });
    const rows = await readLong<readonly [text: string, ...part: (number | string)[]]>(
      this.#client,
      asked,
      tooManyDays,
    );
    if (rows.length === 0) await this.#requireQuantiles(query);
    const byBucket = Map.groupBy(rows, ([text]) => text);
    if (byBucket.size * minutes > HISTORY_VALUES_MAX) throw tooManyDays();
    const buckets = [...byBucket].map(([text, ofBucket]) => {
      const parts = ofBucket.map(([, ...part]) => toWindowPart(part));
      return { ...bucketOf(text), gained: slideWindow(parts, 'sum', slots) };
    });
    const boundsAt = rows.length === 0 ? null : await this.#bounds.ofWindows({ ...query, selector });
    const values: (number | null)[] = [];
    const moreThan = new Set<number>();
    for (let minute = 0; minute < minutes; minute += 1) {
      if (minute % MINUTES_AT_ONCE === 0) await setImmediate();
      const growths = buckets.flatMap(({ gained, ...bucket }) => {
        const growth = gained[minute] ?? null;
        return growth === null ? [] : [{ ...bucket, growth }];
      });
      const measured = quantileOf(quantile, growths, boundsAt?.(minute));
      if (measured?.isMoreThan === true) moreThan.add(minute);
      values.push(measured === null ? null : measured.value);
    }
    return { values, moreThan };
  }

  async #requireQuantiles({
    serviceId,
    selector: { name },
  }: Pick<MetricQuery, 'serviceId' | 'selector'>): Promise<void> {
    const kind = (await this.#catalog.findWithoutQuantiles(serviceId, [name])).get(name);
    if (kind === undefined) return;
    this.#refused[kind] += 1;
    throw invalidInput([{ path: 'metricName', message: noQuantilesText(name, kind) }]);
  }
}

function toValue({ value, isMoreThan }: QuantileValue): Omit<BucketValue, 'at'> {
  return isMoreThan ? { value, isMoreThan } : { value };
}

function toGrowth([text, gain]: Gains[number]) {
  return { ...bucketOf(text), growth: Number(gain) || 0 };
}

function bucketOf(text: string): Omit<BucketGrowth, 'growth'> {
  const { apart: layout, le, range } = readBucketText(text);
  return { layout, le, range };
}

/** The least and the greatest of each column, and the newest of all, as in charts of other metrics. */
function extremesOf(points: readonly BucketValue[], columnMs: number): BucketValue[] {
  const newest = points.at(-1);
  const kept = [...Map.groupBy(points, ({ at }) => Math.floor(at / columnMs)).values()].flatMap((column) => {
    const least = column.reduce((a, b) => (b.value < a.value ? b : a));
    const greatest = column.reduce((a, b) => (b.value > a.value ? b : a));
    return [least, greatest];
  });
  return [...new Set([...kept, ...(newest === undefined ? [] : [newest])])].sort((a, b) => a.at - b.at);
}

export function tooMuch(cause?: unknown): AppError {
  return new AppError('invalid_input', 'this is too much to compute: choose a shorter period or fewer series', {
    cause,
  });
}
