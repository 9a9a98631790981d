import { COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import { READ_AGAIN_MS } from '#modules/metrics/decide/late_points.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { SeriesPoints, STAMPS_OF_MS } from '#modules/metrics/decide/series_points.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { findPredecessors, ORPHANS_MAX, predecessorKey } from '#modules/metrics/store/predecessors.ts';
import { type MetricOf, readPointsSince, weighPointsSince } from '#modules/metrics/store/point_rows.ts';

/** Metric that rules need: its points from here on. */
export interface Needed extends MetricOf {
  readonly oldestMs: number;
}

/** The points of the series of a metric, by the series' key as text. */
export type PointsBySeries = ReadonlyMap<string, SeriesPoints>;

interface Metric extends MetricOf {
  readonly series: Map<string, SeriesPoints>;
  /** All points from here on are in memory. */
  sinceMs: number;
  /** Time at which the whole metric was read. */
  readonly filledAtMs: number;
  /** Time at which the store was last asked for new points. */
  askedAtMs: number;
  /** Time that rules look back: since the last full minute, and in the minute before. */
  spanMs: number;
  spanBeforeMs: number;
  weight: number;
}

interface Orphan {
  readonly key: string;
  readonly metric: Metric;
  readonly name: string;
  readonly series: SeriesPoints;
}

/** Limits in points; a series counts as the number of points that fit into its own memory. */
interface Bounds {
  readonly weightMax: number;
  readonly metricWeightMax: number;
  readonly filledAtOnce: number;
}

const BOUNDS: Bounds = { weightMax: 4_000_000, metricWeightMax: 500_000, filledAtOnce: 250_000 };
const SERIES_WEIGHT = 24;
/** Limit on the metrics of one query. */
const METRICS_MAX = 2_000;
/** A metric of which nothing was asked for so long is read anew. */
const FORGOTTEN_MS = 60_000;
const SWEEP_MS = 60_000;
/** All is read again after this time, a little in each evaluation: whatever was missed is missed no longer. */
const RENEWED_MS = 600_000;
const RENEWED_AT_ONCE = 60_000;
/** A metric that is too large is tried again after this time. */
const REFUSED_MS = 600_000;

/**
 * The points that rules look at, in memory, so that an evaluation reads only what is new. What was taken before the last
 * `READ_AGAIN_MS` and stored since then is late: its service is left out for a while (`lateServices`), as is what does
 * not fit in the bounds. Whoever asks reads these from the store.
 */
export class RecentPoints {
  readonly #client: ClickHouseClient;
  readonly #lateServices: (nowMs: number) => Promise<ReadonlySet<Id<'service'>>>;
  readonly #log: Log;
  readonly #bounds: Bounds;
  readonly #metrics = new Map<string, Metric>();
  /** Time until which each refused metric is left out. */
  readonly #refused = new Map<string, number>();
  #weight = 0;
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    client: ClickHouseClient,
    lateServices: (nowMs: number) => Promise<ReadonlySet<Id<'service'>>>,
    log: Log,
    bounds: Partial<Bounds> = {},
  ) {
    this.#client = client;
    this.#lateServices = lateServices;
    this.#log = log;
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /**
   * The points of those of the needed metrics that are in memory, by key; reads what is new, and some of those that are
   * not yet there.
   */
  async read(needed: ReadonlyMap<string, Needed>, nowMs: number): Promise<ReadonlyMap<string, PointsBySeries>> {
    const reading = this.#turn.then(() => this.#read(needed, nowMs));
    this.#turn = reading.catch(() => {});
    return await reading;
  }

  async #read(needed: ReadonlyMap<string, Needed>, nowMs: number): Promise<ReadonlyMap<string, PointsBySeries>> {
    try {
      const late = await this.#lateServices(nowMs);
      this.#sweep(nowMs);
      let renewed = 0;
      for (const [key, metric] of this.#metrics) {
        const isOld = Math.abs(nowMs - metric.askedAtMs) > FORGOTTEN_MS;
        const isDue = needed.has(key) && nowMs - metric.filledAtMs > RENEWED_MS && renewed < RENEWED_AT_ONCE;
        if (isDue) renewed += metric.weight;
        if (isOld || isDue || late.has(metric.serviceId)) this.#remove(key);
      }
      await this.#readNew(needed, nowMs);
      await this.#fill(
        [...needed].filter(([key, need]) => this.#find(key, need) === null && !late.has(need.serviceId)),
        nowMs,
      );
      return new Map(
        [...needed].flatMap(([key, need]) => {
          const metric = this.#find(key, need);
          return metric === null ? [] : [[key, metric.series] as const];
        }),
      );
    } catch (error) {
      // What is in memory stays true while the store is away.
      if (isUnavailable(error)) throw error;
      this.#log.warn({ err: error }, 'points for rules are read from the store again');
      this.#metrics.clear();
      this.#weight = 0;
      return new Map();
    }
  }

  /** Null for one of which not all points that are needed are in memory. */
  #find(key: string, { oldestMs }: Needed): Metric | null {
    const metric = this.#metrics.get(key);
    return metric === undefined || metric.sinceMs > oldestMs ? null : metric;
  }

  async #readNew(needed: ReadonlyMap<string, Needed>, nowMs: number): Promise<void> {
    const metrics = [...needed].flatMap(([key, need]) => {
      const metric = this.#find(key, need);
      return metric === null ? [] : [{ key, metric, spanMs: nowMs - need.oldestMs }];
    });
    for (let from = 0; from < metrics.length; from += METRICS_MAX) {
      const part = metrics.slice(from, from + METRICS_MAX);
      const sinceMs = Math.min(nowMs, ...part.map(({ metric }) => metric.askedAtMs)) - READ_AGAIN_MS;
      const rows = await readPointsSince(
        this.#client,
        part.map(({ metric }) => metric),
        sinceMs,
      );
      for (const { metric, spanMs } of part) {
        metric.askedAtMs = nowMs;
        metric.spanMs = Math.max(metric.spanMs, spanMs);
      }
      await this.#addBases(this.#add(rows, sinceMs, nowMs));
    }
    for (const { key, metric } of metrics) {
      if (metric.weight > this.#bounds.metricWeightMax || this.#weight > this.#bounds.weightMax) {
        this.#remove(key);
        this.#refused.set(key, nowMs + REFUSED_MS);
      }
    }
  }

  /** Short windows come first. */
  async #fill(missing: readonly (readonly [key: string, Needed])[], nowMs: number): Promise<void> {
    const wanted = missing
      .filter(([key]) => (this.#refused.get(key) ?? 0) <= nowMs)
      .toSorted(([, a], [, b]) => b.oldestMs - a.oldestMs);
    const [first] = wanted;
    if (first === undefined) return;
    // A query reads as far back as any of its rules needs, so rules with much longer windows have their own.
    const spanMax = 1.5 * (nowMs - first[1].oldestMs);
    const alike = wanted.filter(([, { oldestMs }]) => nowMs - oldestMs <= spanMax).slice(0, METRICS_MAX);
    const sinceMs = Math.min(...alike.map(([, { oldestMs }]) => oldestMs));
    const weights = await weighPointsSince(
      this.#client,
      alike.map(([, metric]) => metric),
      { sinceMs, ofSeries: SERIES_WEIGHT },
    );
    let room = Math.min(this.#bounds.filledAtOnce, this.#bounds.weightMax - this.#weight);
    const chosen: (readonly [string, Needed])[] = [];
    for (const pair of alike) {
      const weight = weights.get(pair[0]) ?? 0;
      if (weight > this.#bounds.metricWeightMax || weight > this.#bounds.weightMax - this.#weight) {
        this.#refused.set(pair[0], nowMs + REFUSED_MS);
      } else if (weight <= room || chosen.length === 0) {
        room -= weight;
        chosen.push(pair);
      }
      if (room <= 0) break;
    }
    if (chosen.length === 0) return;
    const rows = await readPointsSince(
      this.#client,
      chosen.map(([, metric]) => metric),
      sinceMs,
    );
    for (const [key, { serviceId, name, oldestMs }] of chosen) {
      // What is there reaches less far back.
      this.#remove(key);
      const times = { sinceMs, filledAtMs: nowMs, askedAtMs: nowMs, spanMs: nowMs - oldestMs, spanBeforeMs: 0 };
      this.#metrics.set(key, { serviceId, name, series: new Map(), ...times, weight: 0 });
    }
    await this.#addBases(this.#add(rows, sinceMs, nowMs));
  }

  /** Returns the series of which it has to be found out what their counters had counted before. */
  #add(rows: Awaited<ReturnType<typeof readPointsSince>>, sinceMs: number, nowMs: number): Orphan[] {
    const orphans: Orphan[] = [];
    for (const { metric: key, series: name, stamps, values } of rows) {
      const metric = this.#metrics.get(key);
      if (metric === undefined) continue;
      let series = metric.series.get(name);
      const before = series === undefined ? 0 : series.length + SERIES_WEIGHT;
      if (series === undefined) metric.series.set(name, (series = new SeriesPoints()));
      const firstMs = series.replaceSince(sinceMs, stamps, values);
      metric.sinceMs = this.#oldestOf(metric, nowMs);
      if (firstMs !== null && firstMs >= metric.sinceMs + COUNTER_LOOKBACK_MS) {
        orphans.push({ key, metric, name, series });
      }
      series.removeBefore(metric.sinceMs);
      this.#weigh(metric, series.length + SERIES_WEIGHT - before);
    }
    return orphans;
  }

  /** Looks for the samples from which the first ones in memory grew, as a counter may pause for longer than rules look back. */
  async #addBases(orphans: readonly Orphan[]): Promise<void> {
    if (orphans.length === 0 || orphans.length > ORPHANS_MAX) return;
    for (const [sinceMs, orphanPoints] of Map.groupBy(orphans, ({ metric }) => metric.sinceMs)) {
      const predecessors = await findPredecessors(
        this.#client,
        [...new Set(orphanPoints.map(({ metric }) => metric))],
        orphanPoints.map(({ name }) => name),
        { sinceMs: sinceMs - COUNTER_REACH_MS, untilMs: sinceMs },
      );
      for (const { key, name, series } of orphanPoints) {
        const predecessor = predecessors.get(predecessorKey(key, name));
        if (predecessor !== undefined) {
          series.setBase(predecessor.atMs * STAMPS_OF_MS + POINT_KINDS.indexOf('counter'), predecessor.value);
        }
      }
    }
  }

  /** Removes what nobody has needed for a minute or two: metrics, series that have ended, and old points. */
  #sweep(nowMs: number): void {
    if (nowMs >= this.#sweptAtMs && nowMs - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [key, until] of this.#refused) if (until <= nowMs) this.#refused.delete(key);
    for (const [key, metric] of this.#metrics) {
      metric.sinceMs = this.#oldestOf(metric, nowMs);
      for (const [name, series] of metric.series) {
        const before = series.length;
        series.removeBefore(metric.sinceMs);
        if (series.length === 0) metric.series.delete(name);
        this.#weigh(metric, series.length - before - (series.length === 0 ? SERIES_WEIGHT : 0));
      }
      metric.spanBeforeMs = metric.spanMs;
      metric.spanMs = 0;
      if (metric.spanBeforeMs === 0) this.#remove(key);
    }
  }

  /** Returns the oldest time to keep, with room for an evaluation whose `now` is a little earlier. */
  #oldestOf({ spanMs, spanBeforeMs, sinceMs }: Metric, nowMs: number): number {
    return Math.max(sinceMs, nowMs - Math.max(spanMs, spanBeforeMs) - FORGOTTEN_MS);
  }

  #remove(key: string): void {
    const metric = this.#metrics.get(key);
    if (metric === undefined) return;
    this.#weight -= metric.weight;
    this.#metrics.delete(key);
  }

  #weigh(metric: Metric, change: number): void {
    metric.weight += change;
    this.#weight += change;
  }
}
