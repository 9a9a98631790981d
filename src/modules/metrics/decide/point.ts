/** Meanings of a point's value. The position is the code in `PointBatch.kind` and in the store: append only. */
export const POINT_KINDS = ['gauge', 'counter', 'delta', 'stale', 'start'] as const;

/**
 * - `gauge`: a value that stands for itself.
 * - `counter`: the running total of a monotonic series, stored raw; its increase is computed when it is read.
 * - `delta`: what was added since the previous point; deltas are summed as they are.
 * - `stale`: the series ends here. Never a value: `value` is 0 and no aggregation sees it.
 * - `start`: a counter began at 0 here, as its sender says: what it counted since is growth. Never a value either.
 */
export type PointKind = (typeof POINT_KINDS)[number];

/** Whether values say how often something has happened. */
export function isCounted(kind: PointKind | null | undefined): boolean {
  return kind === 'counter' || kind === 'delta';
}

/** Label names and values in turn, sorted by name, none empty: `['code', '200', 'route', '/a']`. */
export type Labels = readonly string[];

export interface Series {
  readonly name: string;
  readonly labels: Labels;
  /** The series' identity within its service, from `SeriesHasher`: an unsigned 64-bit number. */
  readonly key: bigint;
}
