import { canonicalLabels, makeLabel, toPairs, type Label } from '#core/metrics/labels.ts';
import { PointBatch, type PointKind, type Series } from '#core/metrics/point.ts';
import { Refusals, type Rejected } from '#core/metrics/refusals.ts';
import { SeriesHasher } from '#core/metrics/series_key.ts';
import type { Temporal } from '#kernel/time.ts';

/** What one request may hold. */
export interface PointLimits {
  /** Of the body once inflated; beyond it the request is refused as a whole. */
  readonly bodyBytesMax: number;
  /** Taken or not: points after this many are refused unread, which bounds what a request may cost. */
  readonly pointsMax: number;
  readonly labelsMax: number;
  /** Of a metric name, a label name and a label value, in UTF-8. */
  readonly textBytesMax: number;
  readonly aheadMsMax: number;
  /** Older points would be deleted at once: the service's retention. */
  readonly ageMsMax: number;
  readonly series: SeriesAllowance;
}

/** Which series a service may bring today. */
export interface SeriesAllowance {
  /** Tells it from all others. */
  readonly sign: symbol;
  /** How many it may have; Infinity for no bound. */
  readonly max: number;
  /**
   * Whether the series with this key, in two 32-bit halves, is known or there is still room for one more. One that was
   * admitted always is.
   */
  admit(high: number, low: number): boolean;
}

export const ANY_SERIES: SeriesAllowance = { sign: Symbol('any series'), max: Infinity, admit: () => true };

/** A series that a request has brought, for those that bring it again under the same limits. */
export interface TakenSeries {
  readonly series: Series;
  /** The halves of its key. */
  readonly high: number;
  readonly low: number;
  /** The sign of the allowance under which it was admitted last, which need not be asked again. */
  admittedBy: symbol | null;
}

const DAY_MS = 86_400_000;

export function pointLimits(retentionDays: number, series: SeriesAllowance = ANY_SERIES): PointLimits {
  return {
    bodyBytesMax: 16 * 1024 * 1024,
    pointsMax: 100_000,
    labelsMax: 64,
    textBytesMax: 512,
    aheadMsMax: 10 * 60_000,
    ageMsMax: retentionDays * DAY_MS,
    series,
  };
}

/** What a decoder makes of a body: the points taken, the points refused and why. */
export interface DecodedPoints {
  readonly points: PointBatch;
  readonly rejected: Rejected;
  /** Of those refused: the points of series beyond the service's allowance. */
  readonly beyondSeries: number;
  /** NaN values: senders use them for "nothing measured", so they are left out without being a fault. */
  readonly dropped: number;
}

/** Holds every sample of a request against the limits, whatever protocol brought it. */
export class PointAdmission {
  readonly limits: PointLimits;
  readonly batch: PointBatch;
  readonly #refusals = new Refusals();
  readonly #hasher = new SeriesHasher();
  readonly #byKey = new Map<bigint, number>();
  #seen = 0;
  #dropped = 0;
  #beyondSeries = 0;
  readonly #tooManySeries: string;
  readonly #oldest: number;
  readonly #newest: number;

  /** `pointsExpected` spares the batch from growing; more are taken and fewer do no harm. */
  constructor(now: Temporal.Instant, limits: PointLimits, pointsExpected?: number) {
    this.limits = limits;
    this.batch = new PointBatch(pointsExpected === undefined ? undefined : Math.min(pointsExpected, limits.pointsMax));
    this.#tooManySeries = `a new series beyond the ${limits.series.max} that the service may have a day (UTC)`;
    this.#oldest = now.epochMilliseconds - limits.ageMsMax;
    this.#newest = now.epochMilliseconds + limits.aheadMsMax;
  }

  /** A label checked against the limits, for `addSeries`. */
  label(name: string, value: string): Label {
    return makeLabel(name, value, this.limits.textBytesMax, this.#hasher);
  }

  /**
   * The index under which `add` takes the series, or why none of its points is taken. For protocols whose series
   * stand once in a request: each call adds one.
   */
  addSeries(name: Label, labels: readonly Label[]): number | string {
    const canonical = this.#canonicalLabels(name, labels);
    if (typeof canonical === 'string') return canonical;
    const key = this.#keyOf(name, canonical);
    return this.#isAdmitted() ? this.#addSeries(name, canonical, key) : this.#tooManySeries;
  }

  /** The same, for protocols that repeat the series at each point: one call adds it and the others find it. */
  seriesOf(name: Label, labels: readonly Label[]): number | string {
    const canonical = this.#canonicalLabels(name, labels);
    if (typeof canonical === 'string') return canonical;
    const key = this.#keyOf(name, canonical);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (!this.#isAdmitted()) return this.#tooManySeries;
    const index = this.#addSeries(name, canonical, key);
    this.#byKey.set(key, index);
    return index;
  }

  /** The same for a series that was taken before; null where it is not taken now, for whatever reason. */
  addTakenBefore(taken: TakenSeries): number | null {
    const allowance = this.limits.series;
    if (!this.hasRoomFor(1)) return null;
    if (taken.admittedBy !== allowance.sign) {
      if (!allowance.admit(taken.high, taken.low)) return null;
      taken.admittedBy = allowance.sign;
    }
    return this.batch.addSeries(taken.series);
  }

  /** `at` is in epoch milliseconds. A stale marker's value is not looked at. */
  add(seriesIndex: number, at: number, value: number, kind: PointKind, place: () => string): void {
    const isStale = kind === 'stale';
    const fault = this.#faultOf(at, isStale ? 0 : value);
    if (fault !== null) {
      this.refuse(fault, place);
      return;
    }
    this.#seen += 1;
    if (isStale) this.batch.add(seriesIndex, at, 0, kind);
    else if (Number.isNaN(value)) this.#dropped += 1;
    else this.batch.add(seriesIndex, at, value, kind);
  }

  refuse(message: string, place: () => string, points = 1): void {
    this.#seen += points;
    if (message === this.#tooManySeries) this.#beyondSeries += points;
    this.#refusals.add(message, place, points);
  }

  hasRoomFor(points: number): boolean {
    return this.#seen + points <= this.limits.pointsMax;
  }

  get fullMessage(): string {
    return `beyond the ${this.limits.pointsMax} points that one request may hold: send the rest in another`;
  }

  result(): DecodedPoints {
    return {
      points: this.batch,
      rejected: this.#refusals.toRejected(),
      beyondSeries: this.#beyondSeries,
      dropped: this.#dropped,
    };
  }

  #canonicalLabels(name: Label, labels: readonly Label[]): readonly Label[] | string {
    if (!this.hasRoomFor(1)) return this.fullMessage;
    return name.fault ?? canonicalLabels(labels, this.limits.labelsMax);
  }

  /** What `seriesKey` says, from the hashes at hand. */
  #keyOf(name: Label, labels: readonly Label[]): bigint {
    const hasher = this.#hasher;
    hasher.begin();
    hasher.addLabel(name.high, name.low);
    for (const { high, low } of labels) hasher.addLabel(high, low);
    return hasher.end();
  }

  /** Of the series whose key was worked out last. */
  #isAdmitted(): boolean {
    return this.limits.series.admit(this.#hasher.high, this.#hasher.low);
  }

  #addSeries(name: Label, labels: readonly Label[], key: bigint): number {
    return this.batch.addSeries({ name: name.value, labels: toPairs(labels), key });
  }

  #faultOf(at: number, value: number): string | null {
    if (value === Infinity || value === -Infinity) return 'an infinite value';
    if (!this.hasRoomFor(1)) return this.fullMessage;
    if (at >= this.#oldest && at <= this.#newest) return null;
    return at > this.#newest
      ? `a time more than ${this.limits.aheadMsMax / 60_000} minutes ahead`
      : `a time older than the ${this.limits.ageMsMax / DAY_MS} days that the service keeps`;
  }
}
