import { emptyLabels, type Label } from '#ingest/admission/labels.ts';

/** Limit on the size of a point, far more than one with all the labels and buckets that it may have. */
export const POINT_BYTES_MAX = 1024 * 1024;

/** Limit on quantiles, more than any summary has. */
export const QUANTILES_MAX = 100;
/** Limit on the exemplars of one point: SDKs keep one for each bucket, of which there are seldom more. */
export const EXEMPLARS_MAX = 16;

/** An observation as it was sent, with the ids in hex digits. */
export interface OtlpExemplar {
  timeUnixNano: number;
  value: number;
  traceId: string;
  spanId: string;
}

/** The buckets of an exponential histogram on one side of zero: bucket `i` of the list has the index `offset + i`. */
export interface ExponentialSide {
  offset: number;
  readonly counts: number[];
}

/** A data point of any kind as it was sent, in either encoding. One object is filled again for each. */
export class OtlpPoint {
  /** The decoder's own list of the attributes that it read last. */
  readonly labels: Label[];
  /** Time as sent; 0 if there is none, which means the time of arrival. */
  timeUnixNano = 0;
  /** Time at which the running total began at zero; 0 if unknown. */
  startTimeUnixNano = 0;
  /** OpenTelemetry's stale marker: the series has ended. */
  hasNoValue = false;
  value: number | null = null;
  count = 0;
  /** Sum; null if the sender left it out, as with the next two. */
  sum: number | null = null;
  min: number | null = null;
  max: number | null = null;
  readonly bounds: number[] = [];
  /** Bucket counts: one more than there are bounds, or none at all. */
  readonly counts: number[] = [];
  readonly quantiles: { readonly quantile: number; readonly value: number }[] = [];
  scale = 0;
  zeroCount = 0;
  zeroThreshold = 0;
  readonly positive: ExponentialSide = { offset: 0, counts: [] };
  readonly negative: ExponentialSide = { offset: 0, counts: [] };
  readonly exemplars: OtlpExemplar[] = [];

  constructor(labels: Label[]) {
    this.labels = labels;
  }

  clear(): void {
    emptyLabels(this.labels);
    this.timeUnixNano = 0;
    this.startTimeUnixNano = 0;
    this.hasNoValue = false;
    this.value = null;
    this.count = 0;
    this.sum = null;
    this.min = null;
    this.max = null;
    this.scale = 0;
    this.zeroCount = 0;
    this.zeroThreshold = 0;
    this.positive.offset = 0;
    this.negative.offset = 0;
    if (this.exemplars.length > 0) this.exemplars.length = 0;
    if (this.bounds.length > 0) this.bounds.length = 0;
    if (this.counts.length > 0) this.counts.length = 0;
    if (this.quantiles.length > 0) this.quantiles.length = 0;
    if (this.positive.counts.length > 0) this.positive.counts.length = 0;
    if (this.negative.counts.length > 0) this.negative.counts.length = 0;
  }
}
