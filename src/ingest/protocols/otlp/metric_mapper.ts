import type { PointAdmission } from '#ingest/admission/point_admission.ts';
import { faultyLabel, NAME_LABEL, toSeriesText, type Label } from '#ingest/admission/labels.ts';
import { SharedSeriesFinder } from '#ingest/admission/refusals.ts';
import { type GridHistogram, RANGE_LABEL, toGrid } from '#modules/metrics/decide/exponential_buckets.ts';
import { METRIC_TYPE } from '#modules/metrics/decide/metric_type.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';
import { LabelCache } from '#ingest/protocols/body/json_cursor.ts';
import { type OtlpPoint, QUANTILES_MAX } from '#ingest/protocols/otlp/point.ts';
import { type Scope, StreamLabels } from '#ingest/protocols/otlp/stream_labels.ts';
import { NOT_UTF8 } from '#ingest/protocols/body/protobuf_wire.ts';
import type { RequestScopes } from '#ingest/series/series_starts.ts';

/** Values of `AggregationTemporality`. */
export type Temporality = 'unspecified' | 'delta' | 'cumulative';

/** Temporalities by their names in OTLP/JSON. */
export const TEMPORALITIES = new Map<string, Temporality>([
  ['AGGREGATION_TEMPORALITY_UNSPECIFIED', 'unspecified'],
  ['AGGREGATION_TEMPORALITY_DELTA', 'delta'],
  ['AGGREGATION_TEMPORALITY_CUMULATIVE', 'cumulative'],
]);

export function toTemporality(value: number): Temporality {
  if (value === 1) return 'delta';
  return value === 2 ? 'cumulative' : 'unspecified';
}

export const DATA_KINDS = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const;
export type DataKind = (typeof DATA_KINDS)[number];

/** Number of totals: `_count`, `_sum`, `_min` and `_max`. */
const TOTALS = 4;

/** Converts OpenTelemetry's data points to points, for both encodings. */
export class MetricMapper {
  readonly labels: LabelCache;
  /** The unit of the metric that was begun last; asked for once, when it has a point. */
  unit: () => string = () => '';
  readonly #admission: PointAdmission;
  readonly #nowMs: number;
  readonly #stream: StreamLabels;
  readonly shared = new SharedSeriesFinder();
  #name: string | null = '';
  #isTold = false;
  /** The metric's name as a label, by its suffix: a metric has many points. */
  readonly #nameLabels = new Map<string, Label>();
  #lastSuffix = '';
  /** The bounds of the histogram before, and their labels. */
  readonly #bounds: number[] = [];
  readonly #boundLabels: Label[] = [];
  #lastNameLabel: Label | null = null;
  /** The point that is being added: one closure serves them all. */
  #placed: OtlpPoint | null = null;
  #placedSuffix = '';
  readonly #place = (): string => toSeriesText((this.#name ?? '') + this.#placedSuffix, this.#placed?.labels ?? []);

  constructor(admission: PointAdmission, nowMs: number, scopes: RequestScopes) {
    this.#admission = admission;
    this.#nowMs = nowMs;
    this.labels = new LabelCache(admission);
    this.#stream = new StreamLabels(admission, this.labels, scopes);
  }

  /** Begins a resource with all its attributes; those that distinguish senders become labels. */
  beginResource(attributes: readonly Label[]): void {
    this.#stream.beginResource(attributes);
  }

  beginScope(scope: Scope): void {
    this.#stream.beginScope(scope);
  }

  /** Begins a metric; null means that its name is not UTF-8, and its points are refused. */
  beginMetric(name: string | null): void {
    this.#name = name;
    this.#isTold = false;
    this.#lastNameLabel = null;
    if (this.#nameLabels.size > 0) this.#nameLabels.clear();
  }

  /** Adds a point of a metric whose data are of this kind. */
  take(kind: DataKind, point: OtlpPoint, temporality: Temporality, isMonotonic: boolean): void {
    switch (kind) {
      case 'gauge':
        this.#gauge(point);
        return;
      case 'sum':
        this.#sum(point, temporality, isMonotonic);
        return;
      case 'histogram':
        this.#classicHistogram(point, temporality);
        return;
      case 'exponentialHistogram':
        this.#exponentialHistogram(point, temporality);
        return;
      case 'summary':
        this.#summary(point);
    }
  }

  #gauge(point: OtlpPoint): void {
    this.#tell(METRIC_TYPE.gauge);
    this.#number(point, 'gauge');
  }

  /** A cumulative sum that may fall is a gauge; a delta is a delta, whether it may fall or not. */
  #sum(point: OtlpPoint, temporality: Temporality, isMonotonic: boolean): void {
    const kind = this.#kindOf(point, temporality, 'sum');
    if (kind === null) return;
    this.#tell(isMonotonic ? METRIC_TYPE.counter : METRIC_TYPE.gauge);
    this.#number(point, kind === 'counter' && !isMonotonic ? 'gauge' : kind);
  }

  #classicHistogram(point: OtlpPoint, temporality: Temporality): void {
    const kind = this.#kindOf(point, temporality);
    if (kind === null) return;
    this.#tell(METRIC_TYPE.histogram);
    const { bounds, counts } = point;
    // The stale marker of a histogram has no counts, but each of its buckets ends.
    if (point.hasNoValue && bounds.length > 0) {
      counts.length = 0;
      for (let i = 0; i <= bounds.length; i += 1) counts.push(0);
    }
    dropInfiniteBound(bounds, counts);
    const points = counts.length + TOTALS;
    if (!isSound(bounds, counts)) this.#refuse('buckets that do not match their bounds', point);
    else if (!this.#admission.hasCapacityFor(points)) this.#refuse(this.#admission.fullMessage, point, points);
    else this.#histogram(point, kind);
  }

  #histogram(point: OtlpPoint, kind: PointKind): void {
    let counted = 0;
    for (let i = 0; i < point.counts.length; i += 1) {
      counted += point.counts[i] ?? 0;
      this.#add('_bucket', point, counted, kind, this.#bound(i, point.bounds[i] ?? Infinity));
    }
    if (this.#totals(point, kind) !== null) this.#exemplars(point);
  }

  /** The label of a bound, which is usually the same as in the histogram before. */
  #bound(place: number, bound: number): Label {
    const boundLabel = this.#boundLabels[place];
    if (boundLabel !== undefined && this.#bounds[place] === bound) return boundLabel;
    const label = this.labels.of('le', bound === Infinity ? '+Inf' : String(bound));
    this.#bounds[place] = bound;
    this.#boundLabels[place] = label;
    return label;
  }

  /** The buckets become those of one grid (`exponential_buckets.ts`), one series each, beside the totals. */
  #exponentialHistogram(point: OtlpPoint, temporality: Temporality): void {
    const kind = this.#kindOf(point, temporality);
    if (kind === null) return;
    this.#tell(METRIC_TYPE.histogram);
    const grid = toGrid(point);
    const points = (grid?.buckets.length ?? 0) + TOTALS;
    if (grid === null) this.#refuse('an exponential histogram with a scale or buckets out of range', point);
    else if (!this.#admission.hasCapacityFor(points)) this.#refuse(this.#admission.fullMessage, point, points);
    else {
      const counted = this.#totals(point, kind);
      if (!point.hasNoValue && counted !== null) this.#ranges(point, grid, counted, kind);
      if (counted !== null) this.#exemplars(point);
    }
  }

  #ranges(point: OtlpPoint, grid: GridHistogram, counted: number, kind: PointKind): void {
    const at = this.#timeOf(point);
    const startAt = startOf(point);
    const bases = kind === 'counter' ? this.#admission.noteHistogram(counted, startAt, at, grid) : null;
    const { buckets } = bases?.histogram ?? grid;
    for (const [place, { range, count: value }] of buckets.entries()) {
      const series = this.#seriesOf('_bucket', point, this.labels.of(RANGE_LABEL, range));
      if (series === null) continue;
      if (bases === null) this.#admission.add(series, at, value, kind, this.#place);
      else this.#admission.addBucket(series, { startAt, value }, bases, place, this.#place);
    }
  }

  #summary(point: OtlpPoint): void {
    if (point.quantiles.length > QUANTILES_MAX) {
      this.#refuse(`a summary with more than ${QUANTILES_MAX} quantiles`, point);
      return;
    }
    this.#tell(METRIC_TYPE.summary);
    for (const { quantile, value } of point.quantiles) {
      this.#add('', point, value, 'gauge', this.labels.of('quantile', String(quantile)));
    }
    this.#totals(point, 'counter');
  }

  /** Returns the series of the count. */
  #totals(point: OtlpPoint, kind: PointKind): number | null {
    const { count, sum, min, max } = point;
    const counted = this.#add('_count', point, count, kind);
    this.#note(counted, point, count);
    if (sum !== null) this.#add('_sum', point, sum, kind);
    if (min !== null) this.#add('_min', point, min, 'gauge');
    if (max !== null) this.#add('_max', point, max, 'gauge');
    return counted;
  }

  /** Notes the type of the metric, once for all its points. */
  #tell(type: number): void {
    if (this.#isTold || this.#name === null) return;
    this.#isTold = true;
    this.#admission.announceType(this.#name, type, this.unit());
  }

  #number(point: OtlpPoint, kind: PointKind): void {
    if (point.value === null && !point.hasNoValue) this.#refuse('a point without a value', point);
    else {
      const series = this.#add('', point, point.value ?? 0, kind);
      this.#note(series, point, point.value ?? 0);
      if (series !== null) this.#exemplars(point);
    }
  }

  #note(series: number | null, point: OtlpPoint, value: number): void {
    if (series === null || this.#name === null) return;
    this.shared.note(series, this.#stream.identity, this.#timeOf(point), value, this.#name);
  }

  /** Adds the exemplars of a point whose series is accepted. */
  #exemplars(point: OtlpPoint): void {
    if (point.exemplars.length === 0 || this.#name === null) return;
    const labels = this.#stream.merge(point.labels);
    for (const { timeUnixNano, ...sent } of point.exemplars) {
      const at = timeUnixNano === 0 ? this.#timeOf(point) : toMilliseconds(timeUnixNano);
      this.#admission.exemplars.add(this.#name, labels, { ...sent, at });
    }
  }

  /** Returns the series, or null if its point is refused. */
  #add(suffix: string, point: OtlpPoint, value: number, kind: PointKind, extra?: Label): number | null {
    const series = this.#seriesOf(suffix, point, extra);
    if (series === null) return null;
    const at = this.#timeOf(point);
    if (point.hasNoValue) this.#admission.add(series, at, 0, 'stale', this.#place);
    else this.#admission.addSince(series, startOf(point), at, value, kind, this.#place);
    return series;
  }

  #seriesOf(suffix: string, point: OtlpPoint, extra?: Label): number | null {
    const series = this.#admission.findOrAddSeries(this.#nameLabel(suffix), this.#stream.merge(point.labels, extra));
    this.#placed = point;
    this.#placedSuffix = suffix;
    if (typeof series !== 'string') return series;
    this.#admission.refuse(series, this.#place);
    return null;
  }

  #timeOf({ timeUnixNano }: OtlpPoint): number {
    return timeUnixNano === 0 ? this.#nowMs : toMilliseconds(timeUnixNano);
  }

  #nameLabel(suffix: string): Label {
    if (suffix === this.#lastSuffix && this.#lastNameLabel !== null) return this.#lastNameLabel;
    this.#lastSuffix = suffix;
    let label = this.#nameLabels.get(suffix);
    if (label === undefined) {
      label = this.#name === null ? faultyLabel('', NOT_UTF8) : this.labels.of(NAME_LABEL, this.#name + suffix);
      this.#nameLabels.set(suffix, label);
    }
    this.#lastNameLabel = label;
    return label;
  }

  #kindOf(point: OtlpPoint, temporality: Temporality, what = 'histogram'): PointKind | null {
    if (temporality !== 'unspecified') return temporality === 'delta' ? 'delta' : 'counter';
    this.#refuse(`a ${what} without an aggregation temporality`, point);
    return null;
  }

  #refuse(message: string, point: OtlpPoint, points = 1): void {
    this.#placed = point;
    this.#placedSuffix = '';
    this.#admission.refuse(message, this.#place, points);
  }
}

/** Returns the start time in milliseconds; NaN if it was not sent. */
function startOf({ startTimeUnixNano }: OtlpPoint): number {
  return startTimeUnixNano === 0 ? Number.NaN : toMilliseconds(startTimeUnixNano);
}

function toMilliseconds(nanoseconds: number): number {
  return Math.round(nanoseconds / 1_000_000);
}

/**
 * Drops the bound +Inf of the last bucket, which some senders send, and adds a further bucket above it, which some of
 * these send, to the last one.
 */
function dropInfiniteBound(bounds: number[], counts: number[]): void {
  if (bounds.at(-1) !== Infinity) return;
  const above = counts.length > bounds.length ? (counts.pop() ?? 0) : 0;
  bounds.pop();
  if (counts.length > 0) counts.push((counts.pop() ?? 0) + above);
}

function isSound(bounds: readonly number[], counts: readonly number[]): boolean {
  if (counts.length === 0) return bounds.length === 0;
  if (counts.length !== bounds.length + 1) return false;
  return bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > (bounds[i - 1] ?? bound)));
}
