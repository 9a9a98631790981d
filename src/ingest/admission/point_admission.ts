import { POINTS_BODY_BYTES_MAX, POINTS_MAX } from '#core/metrics/limits.ts';
import type { PointKind, Series } from '#core/metrics/point.ts';
import { SeriesHasher } from '#core/metrics/series_key.ts';
import { canonicalLabels, type Label, makeLabel, toPairs } from '#ingest/admission/labels.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { Refusals, type Rejected } from '#ingest/admission/refusals.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';
import type { Temporal } from '#kernel/time.ts';

/** The limits of one request. */
export interface PointLimits {
  /** Of the inflated body; a larger one is refused as a whole. */
  readonly bodyBytesMax: number;
  /** Accepted or not: points beyond this many are refused undecoded, which limits what a request may cost. */
  readonly pointsMax: number;
  readonly labelsMax: number;
  /** Of a metric name, a label name and a label value, in UTF-8. */
  readonly textBytesMax: number;
  readonly aheadMsMax: number;
  /** The service's retention: older points would be deleted at once. */
  readonly ageMsMax: number;
  readonly series: SeriesAllowance;
}

/** The series that a service may send today. */
export interface SeriesAllowance {
  /** Identifies this allowance. */
  readonly sign: symbol;
  /** How many there may be; Infinity for no limit. */
  readonly max: number;
  /**
   * Whether the series with this key, in two 32-bit halves, is known or there is room for one more. Once admitted, a
   * series stays admitted.
   */
  admit(high: number, low: number): boolean;
}

export const ANY_SERIES: SeriesAllowance = { sign: Symbol('any series'), max: Infinity, admit: () => true };

/** A series that a request contained, to be reused by later requests under the same limits. */
export interface AcceptedSeries {
  readonly series: Series;
  /** The halves of its key. */
  readonly high: number;
  readonly low: number;
  /** The sign of the allowance that admitted it last, which need not be asked again. */
  admittedBy: symbol | null;
}

const DAY_MS = 86_400_000;

export function pointLimits(retentionDays: number, series: SeriesAllowance = ANY_SERIES): PointLimits {
  return {
    bodyBytesMax: POINTS_BODY_BYTES_MAX,
    pointsMax: POINTS_MAX,
    labelsMax: 64,
    textBytesMax: 512,
    aheadMsMax: 10 * 60_000,
    ageMsMax: retentionDays * DAY_MS,
    series,
  };
}

/** A decoded body: the accepted points, the refused points and why. */
export interface DecodedPoints {
  readonly points: PointBatch;
  readonly rejected: Rejected;
  /** The refused points whose series exceed the service's allowance. */
  readonly beyondSeries: number;
  /** NaN values: senders use them for "nothing measured", so they are left out and are not a fault. */
  readonly dropped: number;
}

/** Checks every point of a request against the limits, whichever protocol it came by. */
export class PointAdmission {
  readonly limits: PointLimits;
  readonly batch: PointBatch;
  readonly #refusals = new Refusals();
  readonly #hasher = new SeriesHasher();
  /** The series that `findOrAddSeries` added, and their positions in the batch. */
  readonly #added = new SeriesIndex();
  readonly #positions: number[] = [];
  #seen = 0;
  #dropped = 0;
  #beyondSeries = 0;
  readonly fullMessage: string;
  readonly #tooManySeries: string;
  readonly #oldest: number;
  readonly #newest: number;

  /** The batch starts with room for `pointsExpected` and grows when there are more. */
  constructor(now: Temporal.Instant, limits: PointLimits, pointsExpected?: number) {
    this.limits = limits;
    this.batch = new PointBatch(pointsExpected === undefined ? undefined : Math.min(pointsExpected, limits.pointsMax));
    this.fullMessage = `beyond the ${limits.pointsMax} points that one request may hold: send the rest in another`;
    this.#tooManySeries = `a new series beyond the ${limits.series.max} that the service may have a day (UTC)`;
    this.#oldest = now.epochMilliseconds - limits.ageMsMax;
    this.#newest = now.epochMilliseconds + limits.aheadMsMax;
  }

  /** A label checked against the limits, for `addSeries`. */
  label(name: string, value: string): Label {
    return makeLabel(name, value, this.limits.textBytesMax, this.#hasher);
  }

  /**
   * Adds a series and returns its index for `add`, or the reason why none of its points is accepted. For protocols that
   * send each series once per request.
   */
  addSeries(name: Label, labels: readonly Label[]): number | string {
    const canonical = this.#canonicalLabels(name, labels);
    if (typeof canonical === 'string') return canonical;
    const key = this.#keyOf(name, canonical);
    return this.#isAdmitted() ? this.#addSeries(name, canonical, key) : this.#tooManySeries;
  }

  /** The same for protocols that repeat the series with each point: only the first call adds it. */
  findOrAddSeries(name: Label, labels: readonly Label[]): number | string {
    const canonical = this.#canonicalLabels(name, labels);
    if (typeof canonical === 'string') return canonical;
    const key = this.#keyOf(name, canonical);
    const { high, low } = this.#hasher;
    const known = this.#added.find(high, low);
    if (known !== -1) return this.#positions[known] ?? -1;
    if (!this.#isAdmitted()) return this.#tooManySeries;
    const position = this.#addSeries(name, canonical, key);
    this.#positions[this.#added.addSought()] = position;
    return position;
  }

  /** The halves of the key of the series that `addSeries` has just added. */
  get keyHigh(): number {
    return this.#hasher.high;
  }

  get keyLow(): number {
    return this.#hasher.low;
  }

  /** Adds a series of an earlier request; null if it is not accepted now, for any reason. */
  addAcceptedSeries(accepted: AcceptedSeries): number | null {
    const allowance = this.limits.series;
    if (!this.hasCapacityFor(1)) return null;
    if (accepted.admittedBy !== allowance.sign) {
      if (!allowance.admit(accepted.high, accepted.low)) return null;
      accepted.admittedBy = allowance.sign;
    }
    return this.batch.addSeries(accepted.series);
  }

  /** `at` is in epoch milliseconds. The value of a stale marker is ignored. */
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

  hasCapacityFor(points: number): boolean {
    return this.#seen + points <= this.limits.pointsMax;
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
    if (!this.hasCapacityFor(1)) return this.fullMessage;
    return name.fault ?? canonicalLabels(labels, this.limits.labelsMax);
  }

  /** Computes the key from the labels' hashes; its halves are those of the hasher. */
  #keyOf(name: Label, labels: readonly Label[]): bigint {
    const hasher = this.#hasher;
    hasher.begin();
    hasher.addLabel(name.high, name.low);
    for (const { high, low } of labels) hasher.addLabel(high, low);
    return hasher.end();
  }

  /** Whether the series whose key was computed last is admitted. */
  #isAdmitted(): boolean {
    return this.limits.series.admit(this.#hasher.high, this.#hasher.low);
  }

  #addSeries(name: Label, labels: readonly Label[], key: bigint): number {
    return this.batch.addSeries({ name: name.value, labels: toPairs(labels), key });
  }

  #faultOf(at: number, value: number): string | null {
    if (value === Infinity || value === -Infinity) return 'an infinite value';
    if (!this.hasCapacityFor(1)) return this.fullMessage;
    if (at >= this.#oldest && at <= this.#newest) return null;
    return at > this.#newest
      ? `a time more than ${this.limits.aheadMsMax / 60_000} minutes ahead`
      : `a time older than the ${this.limits.ageMsMax / DAY_MS} days that the service keeps`;
  }
}
