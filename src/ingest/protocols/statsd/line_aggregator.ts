import { RANGE_LABEL, toRanges } from '#modules/metrics/decide/exponential_buckets.ts';
import { METRIC_TYPE } from '#modules/metrics/decide/metric_type.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import type { Line } from '#ingest/protocols/statsd/datagram_reader.ts';

/** Flushes for which a gauge changed by `+1` is remembered without an update: a day. */
const GAUGE_FLUSHES_MAX = 8_640;
/** Idle flushes after which a gauge makes room for others. */
const GAUGE_FLUSHES_KEPT = 60;
/**
 * Milliseconds in a second: counts of one past time come with many flushes, each at its own millisecond within the
 * second.
 */
const MS_OF_SECOND = 1_000;
const STEPS_OF_GRID = 8;
/** Approximate memory that a series, a member of a set and a bucket of a timer take, besides their text. */
const SERIES_BYTES = 400;
const MEMBER_BYTES = 80;
const BUCKET_BYTES = 60;
const PAUSE_AFTER = 64;

/** Budget for what may be aggregated, by one key or by several together. */
export class AggregationBudget {
  #series: number;
  #bytes: number;

  constructor({ seriesMax, bytesMax }: { readonly seriesMax: number; readonly bytesMax: number }) {
    this.#series = seriesMax;
    this.#bytes = bytesMax;
  }

  hasRoomFor(series: number, bytes: number): boolean {
    return this.#series >= series && this.#bytes >= bytes;
  }

  take(series: number, bytes: number): void {
    this.#series -= series;
    this.#bytes -= bytes;
  }
}

interface Timer {
  count: number;
  sum: number;
  min: number;
  max: number;
  zeroCount: number;
  readonly positive: Map<number, number>;
  readonly negative: Map<number, number>;
}

interface Gathered {
  readonly line: Pick<Line, 'name' | 'type' | 'tags' | 'isMilliseconds' | 'at'>;
  value: number;
  readonly members: Set<string>;
  readonly timer: Timer | null;
  readonly bytes: number;
  /** Flushes since it was sent last. */
  idle: number;
  /** Whether the value of a gauge is the sum of its changes, from what is not known here. */
  isRelative: boolean;
}

/** A gauge whose value before its changes has to be found out. */
export interface RelativeGauge {
  readonly key: string;
  readonly name: string;
  readonly tags: Line['tags'];
}

/** A point as it will be stored, however often that has to be tried. */
export interface ReadyPoint {
  readonly name: string;
  readonly tags: Line['tags'];
  readonly value: number;
  readonly kind: PointKind;
  readonly at: number;
  /** Declared type and unit of the metric family. */
  readonly announced: { readonly family: string; readonly type: number; readonly unit: string };
}

/** Meaning of `+2` and `-5` for a gauge: a change of it, as in etsy's StatsD, or its value, as in DogStatsD. */
export type SignedGauges = 'change' | 'set';

/** Aggregates the lines received with one key since the last flush. */
export class LineAggregator {
  readonly #gauges = new Map<string, Gathered>();
  /** Values of all types but gauges; emptied with each flush. */
  #others = new Map<string, Gathered>();
  #budget: AggregationBudget;
  /** Approximate memory of gauges and others. */
  #gaugeBytes = 0;
  #otherBytes = 0;
  #flushes = Math.floor(Math.random() * MS_OF_SECOND);
  readonly #signedGauges: SignedGauges;

  constructor(budget: AggregationBudget, signedGauges: SignedGauges = 'change') {
    this.#budget = budget;
    this.#signedGauges = signedGauges;
  }

  get size(): number {
    return this.#gauges.size + this.#others.size;
  }

  /** Moves the aggregator to another budget, including what it holds already. */
  moveTo(budget: AggregationBudget): void {
    const bytes = this.#gaugeBytes + this.#otherBytes;
    this.#budget.take(-this.size, -bytes);
    this.#budget = budget;
    budget.take(this.size, bytes);
  }

  /** Returns what the aggregator holds to its budget; it must not be used afterwards. */
  release(): void {
    this.#budget.take(-this.size, -(this.#gaugeBytes + this.#otherBytes));
  }

  /** Adds a line; returns false if there is no room for its series, or for all of its content. */
  add(line: Line): boolean {
    const { name, type, tags, isMilliseconds, values, rate, at, length } = line;
    const key = `${type} ${at ?? ''} ${name} ${JSON.stringify(tags)}`;
    const isRemembered = type === 'g' && at === null;
    const series = isRemembered ? this.#gauges : this.#others;
    let entry = series.get(key);
    if (entry === undefined) {
      // Its text is held as the key and in parts.
      const bytes = SERIES_BYTES + 3 * length;
      if (!this.#budget.hasRoomFor(1, bytes)) this.#forgetIdleGauges();
      if (!this.#budget.hasRoomFor(1, bytes)) return false;
      const timer = type === 't' ? newTimer() : null;
      entry = {
        line: { name, type, tags, isMilliseconds, at },
        value: 0,
        members: new Set(),
        timer,
        bytes,
        idle: 0,
        isRelative: isRemembered,
      };
      series.set(key, entry);
      this.#budget.take(1, bytes);
      if (isRemembered) this.#gaugeBytes += bytes;
      else this.#otherBytes += bytes;
    }
    entry.idle = 0;
    for (const text of values) {
      if (type === 's') {
        if (entry.members.has(text)) continue;
        if (!this.#hold(MEMBER_BYTES + length)) return false;
        entry.members.add(text);
      } else if (type === 'c') entry.value += Number(text) / rate;
      else if (type === 'g' && this.#isChange(line, text)) entry.value += Number(text);
      else if (type === 'g') {
        entry.value = Number(text);
        entry.isRelative = false;
      } else if (entry.timer !== null && !this.#addTo(entry.timer, Number(text), 1 / rate)) return false;
    }
    return true;
  }

  /** Gauges that were only changed since this process began, or since they were forgotten. */
  relativeGauges(limit: number): RelativeGauge[] {
    const gauges: RelativeGauge[] = [];
    for (const [key, { isRelative, line }] of this.#gauges) {
      if (isRelative && gauges.push({ key, name: line.name, tags: line.tags }) === limit) break;
    }
    return gauges;
  }

  /** Says what a gauge was before its changes. Without this it is not stored. */
  setBase(key: string, base: number): void {
    const gauge = this.#gauges.get(key);
    if (gauge?.isRelative !== true) return;
    gauge.value += base;
    gauge.isRelative = false;
  }

  /** Returns what was gathered, as points of this time; gauges are remembered. What comes meanwhile is kept for the next flush. */
  *flush(at: number): Steps<ReadyPoint[]> {
    const others = this.#others;
    this.#others = new Map();
    this.#budget.take(-others.size, -this.#otherBytes);
    this.#otherBytes = 0;
    const points: ReadyPoint[] = [];
    let read = 0;
    this.#flushes = (this.#flushes + 1) % MS_OF_SECOND;
    for (const otherSeries of others.values()) {
      for (const point of pointsOf(otherSeries, this.#timeOf(otherSeries, at))) points.push(point);
      if ((read += 1) % PAUSE_AFTER === 0) yield;
    }
    for (const [key, gauge] of this.#gauges) {
      if (gauge.isRelative) continue;
      if (gauge.idle === 0) for (const point of pointsOf(gauge, at)) points.push(point);
      gauge.idle += 1;
      if (gauge.idle > GAUGE_FLUSHES_MAX) this.#removeGauge(key, gauge.bytes);
      if ((read += 1) % PAUSE_AFTER === 0) yield;
    }
    return points;
  }

  /** Deltas of one time would replace each other, so each flush has a millisecond of its own. */
  #timeOf({ line: { type, at } }: Gathered, flushedAt: number): number {
    if (at === null) return flushedAt;
    return type === 'c' ? at + this.#flushes : at;
  }

  #isChange({ at }: Line, text: string): boolean {
    return this.#signedGauges === 'change' && at === null && /^[+-]/.test(text);
  }

  #forgetIdleGauges(): void {
    for (const [key, { idle, bytes }] of this.#gauges) if (idle > GAUGE_FLUSHES_KEPT) this.#removeGauge(key, bytes);
  }

  #removeGauge(key: string, bytes: number): void {
    this.#gauges.delete(key);
    this.#gaugeBytes -= bytes;
    this.#budget.take(-1, -bytes);
  }

  #hold(bytes: number): boolean {
    if (!this.#budget.hasRoomFor(0, bytes)) return false;
    this.#budget.take(0, bytes);
    this.#otherBytes += bytes;
    return true;
  }

  #addTo(timer: Timer, value: number, count: number): boolean {
    const side = value > 0 ? timer.positive : timer.negative;
    const index = value === 0 ? 0 : Math.ceil(Math.log2(Math.abs(value)) * STEPS_OF_GRID) - 1;
    if (value !== 0 && !side.has(index) && !this.#hold(BUCKET_BYTES)) return false;
    timer.count += count;
    timer.sum += value * count;
    timer.min = Math.min(timer.min, value);
    timer.max = Math.max(timer.max, value);
    if (value === 0) timer.zeroCount += count;
    else side.set(index, (side.get(index) ?? 0) + count);
    return true;
  }
}

function newTimer(): Timer {
  return { count: 0, sum: 0, min: Infinity, max: -Infinity, zeroCount: 0, positive: new Map(), negative: new Map() };
}

function pointsOf({ line, value, members, timer }: Gathered, at: number): ReadyPoint[] {
  const { name, type, tags, isMilliseconds } = line;
  const announced = { family: name, type: TOLD[type], unit: isMilliseconds ? 'ms' : '' };
  const point = (suffix: string, value: number, kind: PointKind, extra: Line['tags'] = []): ReadyPoint => ({
    name: name + suffix,
    tags: extra.length === 0 ? tags : [...tags, ...extra],
    value,
    kind,
    at,
    announced,
  });
  if (timer === null) return [point('', type === 's' ? members.size : value, type === 'c' ? 'delta' : 'gauge')];
  const side = (counts: ReadonlyMap<number, number>) => ({
    offset: 0,
    counts: [...counts.values()],
    indexes: [...counts.keys()],
  });
  const ranges =
    toRanges({
      scale: Math.log2(STEPS_OF_GRID),
      zeroCount: timer.zeroCount,
      zeroThreshold: 0,
      positive: side(timer.positive),
      negative: side(timer.negative),
    }) ?? [];
  return [
    point('_count', timer.count, 'delta'),
    point('_sum', timer.sum, 'delta'),
    point('_min', timer.min, 'gauge'),
    point('_max', timer.max, 'gauge'),
    ...ranges.map(({ range, count }) => point('_bucket', count, 'delta', [[RANGE_LABEL, range]])),
  ];
}

const TOLD: Readonly<Record<Line['type'], number>> = {
  c: METRIC_TYPE.counter,
  g: METRIC_TYPE.gauge,
  s: METRIC_TYPE.gauge,
  t: METRIC_TYPE.histogram,
};
