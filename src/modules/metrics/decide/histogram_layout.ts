import type { GridBucket, GridHistogram } from '#modules/metrics/decide/exponential_buckets.ts';

/**
 * Returns what each bucket of a histogram held in the export before, in the layout of `now`; null if both have the same
 * layout. By Prometheus's specification of native histograms, a lower resolution and a wider zero bucket merge buckets
 * and are no reset; a higher resolution is one.
 */
export function bucketsBefore(before: GridHistogram, now: GridHistogram): readonly number[] | null {
  if (before.scale === now.scale && before.zeroThreshold === now.zeroThreshold) return null;
  if (now.scale > before.scale || now.zeroThreshold < before.zeroThreshold) return now.buckets.map(() => 0);
  const counts = new Map<string, number>(now.buckets.map((bucket) => [keyOf(bucket), bucket.count]));
  const merged = new Map<string, number>();
  for (const bucket of before.buckets) {
    const index = bucket.side === 0 ? 0 : Math.floor(bucket.index / 2 ** (before.scale - now.scale));
    const bucketKey = keyOf({ side: bucket.side, index });
    const key = isWithinZero(bucket, before.scale, now, counts.get(bucketKey)) ? ZERO : bucketKey;
    merged.set(key, (merged.get(key) ?? 0) + bucket.count);
  }
  return now.buckets.map((bucket) => merged.get(keyOf(bucket)) ?? 0);
}

const ZERO = '0 0';
/** Tolerance for bounds, which are rounded. */
const TOLERANCE = 1e-5;

function keyOf({ side, index }: Pick<GridBucket, 'side' | 'index'>): string {
  return `${side} ${index}`;
}

/** Whether a bucket became a part of the zero bucket: it lies within, or partly within and holds less than before. */
function isWithinZero(
  { side, index, count }: GridBucket,
  scale: number,
  { zeroThreshold }: GridHistogram,
  countNow: number | undefined,
): boolean {
  if (side === 0) return true;
  const base = 2 ** (2 ** -scale);
  if (base ** (index + 1) <= zeroThreshold * (1 + TOLERANCE)) return true;
  return base ** index < zeroThreshold * (1 - TOLERANCE) && (countNow ?? 0) < count;
}
