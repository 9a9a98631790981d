import type { AnnouncedTable } from '#modules/metrics/decide/announced_table.ts';
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
  /** Time in epoch milliseconds. */
  readonly at: Float64Array;
  readonly name: Uint32Array;
  /** The position in `POINT_KINDS`. */
  readonly kind: Uint8Array;
  readonly announced: AnnouncedTable;
}

export interface ServicePoints {
  readonly serviceId: Id<'service'>;
  readonly points: PointColumns;
}
