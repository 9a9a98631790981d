import { RANGE_LABEL, type SentHistogram } from '#modules/metrics/decide/exponential_buckets.ts';
import { type Label, NAME_LABEL } from '#ingest/admission/labels.ts';
import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { LabelCache } from '#ingest/protocols/body/json_cursor.ts';
import type { NativeHistogramReader } from '#ingest/protocols/prometheus/native_histogram.ts';

/** Points of the count, the sum and each bucket. */
const TOTALS = 2;

const NO_BUCKETS: SentHistogram = { bounds: [], buckets: [] };

/** Turns native histograms into the points of `_count`, `_sum` and `_bucket`, as those of OpenTelemetry are. */
export class HistogramPoints {
  readonly #admission: PointAdmission;
  readonly #cache: LabelCache;
  readonly #labels: Label[] = [];

  constructor(admission: PointAdmission) {
    this.#admission = admission;
    this.#cache = new LabelCache(admission);
  }

  /** Whether it was taken. `startAt` is in epoch milliseconds, NaN if it is unknown. */
  add(
    name: string,
    labels: readonly Label[],
    histogram: NativeHistogramReader,
    startAt: number,
    place: () => string,
  ): boolean {
    const admission = this.#admission;
    const late = admission.timeFault(histogram.at);
    if (late !== null) {
      admission.refuse(late, place);
      return false;
    }
    const sent = histogram.isStale ? NO_BUCKETS : histogram.buckets();
    if (sent === null) {
      admission.refuse('a native histogram with a schema, spans or buckets out of range', place);
      return false;
    }
    const points = sent.buckets.length + TOTALS;
    if (!admission.hasCapacityFor(points)) {
      admission.refuse(admission.fullMessage, place, points);
      return false;
    }
    const { at, count, sum, isStale, isGauge } = histogram;
    const counted = this.#series(`${name}_count`, labels);
    if (typeof counted === 'string') {
      admission.refuse(counted, place, points);
      return false;
    }
    const summed = this.#series(`${name}_sum`, labels);
    for (const [series, value] of [
      [counted, count],
      [summed, sum],
    ] as const) {
      if (typeof series === 'string') admission.refuse(series, place);
      else if (isStale) admission.add(series, at, 0, 'stale', place);
      else admission.addSince(series, startAt, at, value, isGauge ? 'gauge' : 'counter', place);
    }
    // The end of a histogram says nothing of its buckets, which may go on.
    if (!isStale) this.#addRanges(name, labels, sent, histogram, { counted, startAt, place });
    return true;
  }

  #addRanges(
    name: string,
    labels: readonly Label[],
    sent: SentHistogram,
    { at, isGauge }: NativeHistogramReader,
    { counted, startAt, place }: { readonly counted: number; readonly startAt: number; readonly place: () => string },
  ): void {
    const admission = this.#admission;
    const bases = isGauge ? null : admission.noteHistogram(counted, startAt, at, sent);
    const { buckets } = bases?.histogram ?? sent;
    for (const [bucket, { range, count: value }] of buckets.entries()) {
      const series = this.#series(`${name}_bucket`, labels, this.#cache.of(RANGE_LABEL, range));
      if (typeof series === 'string') admission.refuse(series, place);
      else if (bases === null) admission.add(series, at, value, 'gauge', place);
      else admission.addBucket(series, { startAt, value }, bases, bucket, place);
    }
  }

  #series(name: string, labels: readonly Label[], range?: Label): number | string {
    const pointLabels = this.#labels;
    pointLabels.length = 0;
    for (const label of labels) pointLabels.push(label);
    if (range !== undefined) pointLabels.push(range);
    return this.#admission.findOrAddSeries(this.#cache.of(NAME_LABEL, name), pointLabels);
  }
}
