interface Point {
  readonly atMs: number;
  readonly value: number;
}

/** Mean of a metric in the hour before an instant, and its median around the instant. */
export interface Move {
  readonly before: number;
  readonly after: number;
  /** Distance moved, in multiples of the usual spread of its values before. */
  readonly score: number;
}

const MINUTE_MS = 60_000;
/** Hour of the usual values; it ends before what led to the instant began. */
const USUAL = { fromMs: -75 * MINUTE_MS, toMs: -15 * MINUTE_MS };
const AROUND = { fromMs: -5 * MINUTE_MS, toMs: 10 * MINUTE_MS };
const USUAL_POINTS_MIN = 10;
const SCORE_MIN = 3;
/** Least spread as a share of a metric's value: one that hardly varies has not moved by its noise. */
const SPREAD_SHARE_MIN = 0.1;

/** Period of the points that `findMove` needs, as milliseconds relative to the instant. */
export const MOVE_SPAN = { fromMs: USUAL.fromMs, toMs: AROUND.toMs };

/**
 * Returns the move if the median around an instant lies three times further from the mean of the hour before than its
 * values usually do; null when it does not, or too little is known.
 */
export function findMove(points: readonly Point[], atMs: number): Move | null {
  const usual = valuesIn(points, atMs, USUAL);
  const around = valuesIn(points, atMs, AROUND);
  if (usual.length < USUAL_POINTS_MIN || around.length === 0) return null;
  const before = meanOf(usual);
  const after = medianOf(around);
  const spread = Math.sqrt(meanOf(usual.map((value) => (value - before) ** 2)));
  const least = Math.max(spread, SPREAD_SHARE_MIN * Math.abs(before));
  const distance = Math.abs(after - before);
  if (!Number.isFinite(distance) || distance === 0) return null;
  const score = least === 0 ? Number.MAX_VALUE : distance / least;
  return score < SCORE_MIN ? null : { before, after, score };
}

function valuesIn(points: readonly Point[], atMs: number, { fromMs, toMs }: typeof USUAL): number[] {
  return points.filter((point) => point.atMs >= atMs + fromMs && point.atMs < atMs + toMs).map(({ value }) => value);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1] ?? sorted[middle], sorted[middle]];
  return sorted.length % 2 === 0 ? (low + high) / 2 : high;
}
