import { POINTS_BODY_BYTES_MAX, POINTS_MAX } from '#modules/metrics/decide/limits.ts';
import type { Exemplar } from '#modules/metrics/decide/exemplar.ts';
import type { PointKind, Series } from '#modules/metrics/decide/point.ts';
import { SeriesHasher } from '#modules/metrics/decide/series_key.ts';
import type { CounterWriter } from '#modules/metrics/decide/counter_writers.ts';
import type { SentHistogram } from '#modules/metrics/decide/exponential_buckets.ts';
import { type BucketBases, CounterStarts } from '#ingest/admission/counter_starts.ts';
import { canonicalLabels, emptyLabels, type Label, makeLabel, toPairs } from '#ingest/admission/labels.ts';
import { Exemplars, PointBatch } from '#ingest/admission/point_batch.ts';
import { Refusals, type Rejected, type SharedSeries } from '#ingest/admission/refusals.ts';
import { SeriesStarts } from '#ingest/series/series_starts.ts';
import { MetricTypes, TypeChanges } from '#ingest/series/metric_types.ts';
import { SeriesIndex } from '#ingest/series/series_index.ts';
import { TOO_MANY_AT_ONCE } from '#ingest/series/new_series_limiter.ts';
import type { Temporal } from '#kernel/time.ts';

export interface PointLimits {
  /** Limit on the inflated body; a larger one is refused as a whole. */
  readonly bodyBytesMax: number;
  /**
   * Limit on the points of a request, accepted or not: those beyond it are refused undecoded, which bounds the cost of
   * a request.
   */
  readonly pointsMax: number;
  readonly labelsMax: number;
  /** Limit on a metric name, a label name and a label value, in bytes of UTF-8. */
  readonly textBytesMax: number;
  readonly aheadMsMax: number;
  /** The service's retention: older points would be deleted at once. */
  readonly ageMsMax: number;
  readonly series: SeriesAllowance;
  /** Start times of the service's counters, as far as its earlier requests gave them. */
  readonly starts: SeriesStarts;
  /** The types of the service's metrics, as its senders said. */
  readonly types: MetricTypes;
}

/** The series that a service may send today. */
export interface SeriesAllowance {
  /** Identifies this allowance. */
  readonly sign: symbol;
  /** Pays for new series with the size of a request's body; called for each request. */
  pay(bodyBytes: number): void;
  /**
   * Returns why the series with this key, given as two 32-bit halves, is not accepted; null for a known one and while
   * there is room for one more. Once admitted, a series stays admitted.
   */
  admit(high: number, low: number): string | null;
}

export const ANY_SERIES: SeriesAllowance = { sign: Symbol('any series'), pay: () => {}, admit: () => null };

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

export function pointLimits(
  retentionDays: number,
  series: SeriesAllowance = ANY_SERIES,
  starts: SeriesStarts = new SeriesStarts(),
  types: MetricTypes = new MetricTypes(),
): PointLimits {
  return {
    bodyBytesMax: POINTS_BODY_BYTES_MAX,
    pointsMax: POINTS_MAX,
    labelsMax: 64,
    textBytesMax: 512,
    aheadMsMax: 10 * 60_000,
    ageMsMax: retentionDays * DAY_MS,
    series,
    starts,
    types,
  };
}

/** A decoded body: the accepted points, the refused points and why. */
export interface DecodedPoints {
  readonly points: PointBatch;
  readonly rejected: Rejected;
  /** The refused points whose series exceed the service's allowance. */
  readonly beyondSeries: number;
  /** The refused points whose series are too many at once: once the request is sent again, they are taken. */
  readonly deferred: number;
  /** Metrics that have another type than senders said before. */
  readonly typeChanges: Pick<TypeChanges, 'count' | 'named'>;
  /** Metrics whose series several streams of the request share; left out by protocols that have no streams. */
  readonly shared?: SharedSeries;
  /** Counters in which two processes count at the same time, as their start times prove. */
  readonly overlapping: SharedSeries;
  /**
   * Remembers what this request declared, so that the next one need not store it again; call it once the points are
   * stored.
   */
  readonly remember: () => void;
  /** Single observations that name their trace; the others are left out. */
  readonly exemplars: readonly Exemplar[];
  /** Counts reported only to senders of remote write 2.0. */
  readonly written?: { readonly samples: number; readonly histograms: number; readonly exemplars: number };
  /** Number of NaN values: senders use them for "nothing measured", so they are dropped and are not a fault. */
  readonly dropped: number;
}

interface AdmissionOptions {
  /** Size of the uncompressed body. */
  readonly bodyBytes: number;
  /** Number of points for which the batch has room before it grows. */
  readonly pointsExpected?: number;
  readonly typeChanges?: TypeChanges;
}

/** Limits on the counters of one request that are reported as written by two processes, and on those that are named. */
const OVERLAPPING_MAX = 1_000;
const OVERLAPPING_NAMED_MAX = 5;

/** Allowance of small bodies beyond their size: 2,000 labels. */
const READING_BYTES_FREE = 120_000;

/** Checks every point of a request against the limits, whichever protocol it came by. */
export class PointAdmission {
  readonly limits: PointLimits;
  readonly batch: PointBatch;
  readonly exemplars: Exemplars;
  readonly #refusals = new Refusals();
  readonly #hasher = new SeriesHasher();
  /** The series that `findOrAddSeries` added, and their positions in the batch. */
  readonly #added = new SeriesIndex();
  readonly #positions: number[] = [];
  /** The series that `findOrAddSeries` returned last. */
  #last = -1;
  #lastName: Label | null = null;
  readonly #lastLabels: Label[] = [];
  readonly #starts: CounterStarts;
  #overlaps = 0;
  readonly #overlapping = new Set<string>();
  #seen = 0;
  readonly #typeChanges: TypeChanges;
  /** Budget left for labels, in bytes. */
  #readingBytes: number;
  #dropped = 0;
  #beyondSeries = 0;
  #deferred = 0;
  readonly fullMessage: string;
  /** Reason of the last refusal of a series. */
  #seriesRefusal: string | null = null;
  readonly #oldest: number;
  readonly #newest: number;

  constructor(
    now: Temporal.Instant,
    limits: PointLimits,
    { bodyBytes, pointsExpected, typeChanges }: AdmissionOptions,
  ) {
    this.limits = limits;
    this.#typeChanges = typeChanges ?? new TypeChanges();
    this.#readingBytes = bodyBytes + READING_BYTES_FREE;
    this.batch = new PointBatch(pointsExpected === undefined ? undefined : Math.min(pointsExpected, limits.pointsMax));
    this.fullMessage = `beyond the ${limits.pointsMax} points that one request may hold: send the rest in another`;
    limits.series.pay(bodyBytes);
    this.#oldest = now.epochMilliseconds - limits.ageMsMax;
    this.#newest = now.epochMilliseconds + limits.aheadMsMax;
    this.#starts = new CounterStarts(this.batch, limits.starts, this.#oldest);
    this.exemplars = new Exemplars(this.#oldest, this.#newest);
  }

  /**
   * Whether a label that this request has not had before may still be read. Reading one takes as long as reading
   * `bytes` bytes of others; no sender has so many different labels in so few bytes.
   */
  mayReadLabel(bytes: number): boolean {
    this.#readingBytes -= bytes;
    return this.#readingBytes >= 0;
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
    this.#hashKey(name, canonical);
    return this.#refusalOfNew() ?? this.#addSeries(name, canonical);
  }

  /**
   * Adds a series for protocols that repeat it with each point: only the first call adds it. `labels` may be the same
   * array each time, filled anew.
   */
  findOrAddSeries(name: Label, labels: readonly Label[]): number | string {
    if (this.#isLast(name, labels)) return this.#last;
    const canonical = this.#canonicalLabels(name, labels);
    if (typeof canonical === 'string') return canonical;
    this.#hashKey(name, canonical);
    const { high, low } = this.#hasher;
    const index = this.#added.find(high, low);
    let position = index === -1 ? -1 : (this.#positions[index] ?? -1);
    if (position === -1) {
      const refusal = this.#refusalOfNew();
      if (refusal !== null) return refusal;
      position = this.#addSeries(name, canonical);
      this.#positions[this.#added.addSought()] = position;
    }
    this.#lastName = name;
    emptyLabels(this.#lastLabels);
    for (const label of labels) this.#lastLabels.push(label);
    this.#last = position;
    return position;
  }

  /** Whether this is the series that was found last. Labels that a request repeats are the same objects. */
  #isLast(name: Label, labels: readonly Label[]): boolean {
    const last = this.#lastLabels;
    if (name !== this.#lastName || labels.length !== last.length || !this.hasCapacityFor(1)) return false;
    for (let i = 0; i < last.length; i += 1) if (labels[i] !== last[i]) return false;
    return true;
  }

  /** Notes the type and the unit that the sender says a metric has. */
  announceType(name: string, type: number, unit: string): void {
    this.#typeChanges.add(this.limits.types.tell(name, type, unit));
  }

  /** The points that were taken so far, those among them that hold no value, too. */
  get taken(): number {
    return this.#seen - this.#refusals.count;
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
      if (allowance.admit(accepted.high, accepted.low) !== null) return null;
      accepted.admittedBy = allowance.sign;
    }
    return this.batch.addSeries(accepted.series);
  }

  /** Adds a point; `at` is in epoch milliseconds. The value of a stale marker is ignored. */
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

  /**
   * Adds a sample of a counter that began at 0 at `startAt`, in epoch milliseconds; NaN if that is unknown. The start
   * is stored too, unless it is known.
   */
  addSince(
    seriesIndex: number,
    startAt: number,
    at: number,
    value: number,
    kind: PointKind,
    place: () => string,
  ): void {
    if (kind !== 'counter' || Number.isNaN(startAt)) return this.add(seriesIndex, at, value, kind, place);
    const before = this.batch.length;
    const moment = this.#starts.momentOf(seriesIndex, { startAt, at, value });
    this.add(seriesIndex, moment, value, kind, place);
    if (this.batch.length === before) return;
    this.#starts.note(seriesIndex, { startAt, at: moment, value });
    if (this.#starts.overlaps > this.#overlaps) this.#noteOverlap(seriesIndex);
  }

  /** See `CounterStarts.noteHistogram`. */
  noteHistogram(countIndex: number, startAt: number, at: number, sent: SentHistogram): BucketBases {
    return this.#starts.noteHistogram(countIndex, startAt, at, sent);
  }

  /** Adds, like `addSince`, the sample of a bucket, by its index, of a histogram that sends only non-empty buckets. */
  addBucket(
    seriesIndex: number,
    { startAt, value }: Pick<CounterWriter, 'startAt' | 'value'>,
    bases: BucketBases,
    bucket: number,
    place: () => string,
  ): void {
    const { at } = bases;
    const before = this.batch.length;
    this.add(seriesIndex, at, value, 'counter', place);
    if (this.batch.length > before) this.#starts.noteBucket(seriesIndex, { startAt, at, value }, bases, bucket);
  }

  #noteOverlap(seriesIndex: number): void {
    this.#overlaps = this.#starts.overlaps;
    const name = this.batch.series[seriesIndex]?.name;
    if (name !== undefined && this.#overlapping.size < OVERLAPPING_MAX) this.#overlapping.add(name);
  }

  refuse(message: string, place: () => string, points = 1): void {
    this.#seen += points;
    if (message === TOO_MANY_AT_ONCE) this.#deferred += points;
    else if (message === this.#seriesRefusal) this.#beyondSeries += points;
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
      deferred: this.#deferred,
      typeChanges: this.#typeChanges,
      remember: () => this.#starts.remember(),
      overlapping: { count: this.#overlapping.size, named: [...this.#overlapping].slice(0, OVERLAPPING_NAMED_MAX) },
      dropped: this.#dropped,
      exemplars: this.exemplars.kept,
    };
  }

  #canonicalLabels(name: Label, labels: readonly Label[]): readonly Label[] | string {
    if (!this.hasCapacityFor(1)) return this.fullMessage;
    return name.fault ?? canonicalLabels(labels, this.limits.labelsMax);
  }

  /** Computes the halves of the key from the labels' hashes. */
  #hashKey(name: Label, labels: readonly Label[]): void {
    const hasher = this.#hasher;
    hasher.begin();
    hasher.addLabel(name.high, name.low);
    for (const { high, low } of labels) hasher.addLabel(high, low);
    hasher.finish();
  }

  /** Returns why the series whose key was computed last is not accepted; null if it is. */
  #refusalOfNew(): string | null {
    const refusal = this.limits.series.admit(this.#hasher.high, this.#hasher.low);
    if (refusal !== null) this.#seriesRefusal = refusal;
    return refusal;
  }

  /** Adds the series whose key was computed last. */
  #addSeries(name: Label, labels: readonly Label[]): number {
    return this.batch.addSeries({ name: name.value, labels: toPairs(labels), key: this.#hasher.key() });
  }

  #faultOf(at: number, value: number): string | null {
    if (value === Infinity || value === -Infinity) return 'an infinite value';
    return this.hasCapacityFor(1) ? this.timeFault(at) : this.fullMessage;
  }

  /** Returns why no point of this time is accepted; null if it is. */
  timeFault(at: number): string | null {
    if (at >= this.#oldest && at <= this.#newest) return null;
    return at > this.#newest
      ? `a time more than ${this.limits.aheadMsMax / 60_000} minutes ahead`
      : `a time older than the ${this.limits.ageMsMax / DAY_MS} days that the service keeps`;
  }
}
