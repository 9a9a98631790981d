import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { faultyLabel, NAME_LABEL, toSeriesText, type Label } from '#ingest/admission/labels.ts';
import type { PointKind } from '#core/metrics/point.ts';
import { LabelCache } from '#ingest/protocols/body/label_cache.ts';
import { NOT_UTF8 } from '#ingest/protocols/protobuf/decode_text.ts';

/** `AggregationTemporality` by number. */
export type Temporality = 'unspecified' | 'delta' | 'cumulative';

export function toTemporality(value: number): Temporality {
  if (value === 1) return 'delta';
  return value === 2 ? 'cumulative' : 'unspecified';
}

/** The common fields of all data points. */
export interface PointHead {
  readonly labels: readonly Label[];
  /** As sent; 0 if there is none, which means the time of arrival. */
  readonly timeUnixNano: number;
  /** OpenTelemetry's stale marker: the series has ended. */
  readonly hasNoValue: boolean;
}

/** The totals of a histogram, summary or exponential histogram; null where the sender left one out. */
export interface Totals {
  readonly count: number;
  readonly sum: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

export interface Buckets {
  readonly bounds: readonly number[];
  /** One more than there are bounds, or none at all. */
  readonly counts: readonly number[];
}

export interface Quantile {
  readonly quantile: number;
  readonly value: number;
}

/** `_count`, `_sum`, `_min` and `_max`. */
const TOTALS = 4;

/** Converts OpenTelemetry's data points to points, for both encodings. */
export class MetricMapper {
  readonly labels: LabelCache;
  readonly #admission: PointAdmission;
  readonly #nowMs: number;
  #resource: readonly Label[] = [];
  #name: string | null = '';
  /** The metric's name as a label, by its suffix: a metric has many points. */
  readonly #nameLabels = new Map<string, Label>();

  constructor(admission: PointAdmission, nowMs: number) {
    this.#admission = admission;
    this.#nowMs = nowMs;
    this.labels = new LabelCache(admission);
  }

  beginResource(labels: readonly Label[]): void {
    this.#resource = labels;
  }

  /** Null means that the name is not UTF-8; its points are refused. */
  beginMetric(name: string | null): void {
    this.#name = name;
    this.#nameLabels.clear();
  }

  gauge(head: PointHead, value: number | null): void {
    this.#number(head, value, 'gauge');
  }

  /** A cumulative sum that may fall is a gauge; a delta is a delta, whether it may fall or not. */
  sum(head: PointHead, value: number | null, temporality: Temporality, isMonotonic: boolean): void {
    const kind = this.#kindOf(head, temporality);
    if (kind !== null) this.#number(head, value, kind === 'counter' && !isMonotonic ? 'gauge' : kind);
  }

  histogram(head: PointHead, totals: Totals, buckets: Buckets, temporality: Temporality): void {
    const kind = this.#kindOf(head, temporality);
    if (kind === null) return;
    const { bounds } = buckets;
    // The stale marker of a histogram has no counts, but each of its buckets ends.
    const counts = head.hasNoValue && bounds.length > 0 ? [...bounds.map(() => 0), 0] : buckets.counts;
    const points = counts.length + TOTALS;
    if (!isSound(bounds, counts)) this.#refuse('buckets that do not match their bounds', head);
    else if (!this.#admission.hasCapacityFor(points)) this.#refuse(this.#admission.fullMessage, head, points);
    else this.#histogram(head, totals, bounds, counts, kind);
  }

  #histogram(
    head: PointHead,
    totals: Totals,
    bounds: readonly number[],
    counts: readonly number[],
    kind: PointKind,
  ): void {
    let counted = 0;
    for (const [i, count] of counts.entries()) {
      counted += count;
      const bound = bounds[i];
      const le = this.labels.of('le', bound === undefined ? '+Inf' : String(bound));
      this.#add('_bucket', head, counted, kind, le);
    }
    this.#totals(head, totals, kind);
  }

  /** Exponential buckets are not stored: they have no fixed bounds that a label could hold. */
  exponentialHistogram(head: PointHead, totals: Totals, temporality: Temporality): void {
    const kind = this.#kindOf(head, temporality);
    if (kind !== null) this.#totals(head, totals, kind);
  }

  summary(head: PointHead, totals: Totals, quantiles: readonly Quantile[]): void {
    for (const { quantile, value } of quantiles) {
      this.#add('', head, value, 'gauge', this.labels.of('quantile', String(quantile)));
    }
    this.#totals(head, totals, 'counter');
  }

  #totals(head: PointHead, { count, sum, min, max }: Totals, kind: PointKind): void {
    this.#add('_count', head, count, kind);
    if (sum !== null) this.#add('_sum', head, sum, kind);
    if (min !== null) this.#add('_min', head, min, 'gauge');
    if (max !== null) this.#add('_max', head, max, 'gauge');
  }

  #number(head: PointHead, value: number | null, kind: PointKind): void {
    if (value === null && !head.hasNoValue) this.#refuse('a point without a value', head);
    else this.#add('', head, value ?? 0, kind);
  }

  #add(suffix: string, head: PointHead, value: number, kind: PointKind, extra?: Label): void {
    const series = this.#admission.addSeries(this.#nameLabel(suffix), this.#merge(head.labels, extra));
    const place = (): string => this.#text(head, suffix);
    if (typeof series === 'string') {
      this.#admission.refuse(series, place);
      return;
    }
    const at = head.timeUnixNano === 0 ? this.#nowMs : Math.round(head.timeUnixNano / 1_000_000);
    this.#admission.add(series, at, value, head.hasNoValue ? 'stale' : kind, place);
  }

  #nameLabel(suffix: string): Label {
    let label = this.#nameLabels.get(suffix);
    if (label === undefined) {
      label = this.#name === null ? faultyLabel('', NOT_UTF8) : this.labels.of(NAME_LABEL, this.#name + suffix);
      this.#nameLabels.set(suffix, label);
    }
    return label;
  }

  /** A point's attribute takes precedence over its resource's. */
  #merge(own: readonly Label[], extra: Label | undefined): readonly Label[] {
    const merged = [...own];
    if (extra !== undefined) merged.push(extra);
    for (const label of this.#resource) if (!own.some(({ name }) => name === label.name)) merged.push(label);
    return merged.length === own.length ? own : merged;
  }

  #kindOf(head: PointHead, temporality: Temporality): PointKind | null {
    if (temporality !== 'unspecified') return temporality === 'delta' ? 'delta' : 'counter';
    this.#refuse('a sum or histogram without an aggregation temporality', head);
    return null;
  }

  #refuse(message: string, head: PointHead, points = 1): void {
    this.#admission.refuse(message, () => this.#text(head), points);
  }

  #text(head: PointHead, suffix = ''): string {
    return toSeriesText((this.#name ?? '') + suffix, head.labels);
  }
}

function isSound(bounds: readonly number[], counts: readonly number[]): boolean {
  if (counts.length === 0) return bounds.length === 0;
  if (counts.length !== bounds.length + 1) return false;
  return bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > (bounds[i - 1] ?? bound)));
}
