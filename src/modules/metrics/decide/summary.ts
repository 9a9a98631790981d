/** A series in five numbers. */
export interface Summary {
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  /** The newest value. */
  readonly last: number;
}

/**
 * Summarizes values, oldest first; null without any. A percentile is one of the values: the smallest that is at or
 * above that share of them.
 */
export function summaryOf(values: readonly number[]): Summary | null {
  const sorted = values.toSorted((a, b) => a - b);
  const atRank = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  const last = values.at(-1);
  return last === undefined ? null : { min: atRank(0), p50: atRank(0.5), p95: atRank(0.95), max: atRank(1), last };
}
