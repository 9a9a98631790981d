import { COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import { POINT_KINDS, type PointKind } from '#modules/metrics/decide/point.ts';

/**
 * Divisor of the value before: a fall by less than that part is no reset. Two senders of one counter, a load balancer
 * or rounding make counters fall a little; a process that begins again starts near zero. VictoriaMetrics has the same
 * bound.
 */
export const SMALL_FALL_PARTS = 8;

/**
 * Returns the growth of a counter from one sample to the next. After a reset it is the new value. A small fall is
 * subtracted, so that the values of a counter that goes up and down a little add up to its growth on the whole. A negative
 * value is that of no counter, such as the sum of negative observations: it is what it has changed by.
 */
export function growthBetween(before: number, now: number): number {
  return isReset(before, now) ? now : now - before;
}

function isReset(before: number, now: number): boolean {
  return now >= 0 && now < before && (before - now) * SMALL_FALL_PARTS >= before;
}

const codeOf = (kind: PointKind): number => POINT_KINDS.indexOf(kind);
const COUNTER = codeOf('counter');
const STALE = codeOf('stale');
const START = codeOf('start');

/**
 * Stamps of a millisecond. A stamp is a time in epoch milliseconds times this, plus the position of the kind in
 * `POINT_KINDS`: stamps are ordered as times are.
 */
export const STAMPS_OF_MS = 8;

/** Totals of the points of some series in the stretch `[fromMs, toMs)`, as if there were none before `keptMs`. */
export interface PointWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly keptMs: number;
  /** Whether the growth of counters is asked for, too. */
  readonly withGrowth: boolean;
  /** Number of points, stale markers included. */
  points: number;
  samples: number;
  total: number;
  least: number;
  greatest: number;
  /** Number and sum of samples that are no counter's. */
  others: number;
  othersTotal: number;
  /** Series that have not ended, and the sum of their newest samples. */
  newest: number;
  newestTotal: number;
  /** Growth of counters, and the time of their newest sample; negative infinity without one. */
  grown: number;
  counterAtMs: number;
}

export function emptyWindow(of: Pick<PointWindow, 'fromMs' | 'toMs' | 'keptMs' | 'withGrowth'>): PointWindow {
  const samples = { samples: 0, total: 0, least: Infinity, greatest: -Infinity, others: 0, othersTotal: 0 };
  const series = { newest: 0, newestTotal: 0, grown: 0, counterAtMs: -Infinity };
  return { ...of, points: 0, ...samples, ...series };
}

/** The last points of one series in memory, in order of time, each time once. A point takes 16 bytes. */
export class SeriesPoints {
  /** Stamps and values in turn. */
  #pairs = new Float64Array(0);
  #start = 0;
  #end = 0;
  /** Stamp and value of the newest point before all others that counts for the growth of a counter. */
  #baseStamp = -Infinity;
  #baseValue = 0;
  #isBaseSought = false;
  #hasCounting = false;

  get length(): number {
    return this.#end - this.#start;
  }

  /**
   * Replaces the points from this time on; the stamps are in order. Returns the time of the first sample of a
   * counter, once, where nothing is known of what came before it: `setBase` may say it.
   */
  replaceSince(fromMs: number, stamps: Float64Array, values: Float64Array): number | null {
    this.#end = this.#placeOf(fromMs);
    const isSought = this.#isBaseSought || this.#baseStamp !== -Infinity;
    const isFirst = !isSought && (!this.#hasCounting || this.#countingBefore(this.#end) < 0);
    this.#reserve(stamps.length);
    for (let index = 0; index < stamps.length; index += 1) {
      this.#pairs[2 * this.#end] = stamps[index] ?? 0;
      this.#pairs[2 * this.#end + 1] = values[index] ?? 0;
      this.#end += 1;
    }
    const first = isFirst ? stamps.find((stamp) => kindOf(stamp) === COUNTER || kindOf(stamp) === START) : undefined;
    if (first === undefined) return null;
    this.#hasCounting = true;
    if (kindOf(first) === START) return null;
    this.#isBaseSought = true;
    return timeOf(first);
  }

  /** Removes points before a time, but keeps the one from which the next sample of a counter grew. */
  removeBefore(ms: number): void {
    const start = this.#placeOf(ms);
    const last = this.#countingBefore(start);
    if (last >= 0) this.setBase(this.#pairs[2 * last] ?? 0, this.#pairs[2 * last + 1] ?? 0);
    this.#start = start;
  }

  /** The newest counting point before those that are in memory, by its stamp. */
  setBase(stamp: number, value: number): void {
    if (stamp <= this.#baseStamp) return;
    this.#baseStamp = stamp;
    this.#baseValue = value;
  }

  /**
   * Adds what lies in the window, with the meanings of `test/kit/metrics/aggregate_model.ts` and the SQL of `rule_query.ts`.
   */
  addTo(window: PointWindow): void {
    const { fromMs, toMs, keptMs, withGrowth } = window;
    const pairs = this.#pairs;
    let newestKind = START;
    let newest = 0;
    let previousStamp = -Infinity;
    let previous = 0;
    const first = withGrowth ? Math.max(fromMs - COUNTER_LOOKBACK_MS, keptMs) : fromMs;
    for (let index = this.#placeOf(first); index < this.#end; index += 1) {
      const stamp = pairs[2 * index] ?? 0;
      const value = pairs[2 * index + 1] ?? 0;
      const at = timeOf(stamp);
      if (at >= toMs) break;
      const kind = kindOf(stamp);
      const isWithin = at >= fromMs;
      if (isWithin && kind !== START) {
        window.points += 1;
        newestKind = kind;
        newest = value;
        if (kind !== STALE) addSample(window, kind, value);
      }
      if (!withGrowth || (kind !== COUNTER && kind !== START)) continue;
      if (isWithin && kind === COUNTER) {
        window.counterAtMs = Math.max(window.counterAtMs, at);
        if (previousStamp === -Infinity) [previousStamp, previous] = this.#pointBefore(first, keptMs);
        // A sample grew by nothing in windows that do not reach the one before it.
        const isCounted = Math.min(at, countsUntil(previousStamp)) >= fromMs;
        if (isCounted) window.grown += growthBetween(previous, value);
      }
      previousStamp = stamp;
      previous = value;
    }
    if (newestKind === START || newestKind === STALE) return;
    window.newest += 1;
    window.newestTotal += newest;
  }

  /** Stamp and value of the newest counting point before a time that is kept; an infinite stamp where there is none. */
  #pointBefore(ms: number, keptMs: number): readonly [stamp: number, value: number] {
    const place = this.#countingBefore(this.#placeOf(ms));
    const [stamp, value] =
      place >= 0 ? [this.#pairs[2 * place] ?? 0, this.#pairs[2 * place + 1] ?? 0] : [this.#baseStamp, this.#baseValue];
    return timeOf(stamp) >= keptMs ? [stamp, value] : [-Infinity, 0];
  }

  /** The place of the newest point before a place from which a counter may have grown; -1 where there is none. */
  #countingBefore(place: number): number {
    for (let index = place - 1; index >= this.#start; index -= 1) {
      const kind = kindOf(this.#pairs[2 * index] ?? 0);
      if (kind === COUNTER || kind === START) return index;
    }
    return -1;
  }

  /** Returns the place of the first point that is not before this time. */
  #placeOf(ms: number): number {
    const stamp = ms * STAMPS_OF_MS;
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#pairs[2 * middle] ?? 0) < stamp) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #reserve(points: number): void {
    if (2 * (this.#end + points) <= this.#pairs.length) return;
    const live = this.#pairs.subarray(2 * this.#start, 2 * this.#end);
    const room = new Float64Array(2 * Math.ceil((this.length + points) * 1.25));
    room.set(live);
    this.#end -= this.#start;
    this.#start = 0;
    this.#pairs = room;
  }
}

function timeOf(stamp: number): number {
  return Math.floor(stamp / STAMPS_OF_MS);
}

function kindOf(stamp: number): number {
  return stamp - timeOf(stamp) * STAMPS_OF_MS;
}

/** Windows that begin later do not reach a counting point. */
function countsUntil(stamp: number): number {
  if (stamp === -Infinity) return -Infinity;
  return timeOf(stamp) + (kindOf(stamp) === COUNTER ? COUNTER_REACH_MS : COUNTER_LOOKBACK_MS);
}

function addSample(window: PointWindow, kind: number, value: number): void {
  window.samples += 1;
  window.total += value;
  if (value < window.least) window.least = value;
  if (value > window.greatest) window.greatest = value;
  if (kind === COUNTER) return;
  window.others += 1;
  window.othersTotal += value;
}
