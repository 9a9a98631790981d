import type { Labels } from '#core/metrics/point.ts';
import type { Id } from '#kernel/ids.ts';

/**
 * Points on their way to the store, in columns: row `i` belongs to the metric `names[name[i]]` and the series `key[i]`.
 * Most points travel without labels: the store finds those by the series' key once the series was announced.
 */
export interface PointColumns {
  readonly length: number;
  readonly names: readonly string[];
  readonly key: BigUint64Array;
  readonly value: Float64Array;
  /** Epoch milliseconds. */
  readonly at: Float64Array;
  readonly name: Uint32Array;
  /** The position in `POINT_KINDS`. */
  readonly kind: Uint8Array;
  readonly announced: readonly AnnouncedSeries[];
}

/** A series with its labels, which the store saves under the series' key. */
export interface AnnouncedSeries {
  readonly name: string;
  readonly key: bigint;
  readonly labels: Labels;
  /** The time of its newest point in this batch; 0 when there are only stale markers. */
  readonly newestAt: number;
}

export interface ServicePoints {
  readonly serviceId: Id<'service'>;
  readonly points: PointColumns;
}
