import type { Temporal } from '#kernel/time.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The widths that a bucket may have: each divides a day, so that buckets keep their edges from query to query. */
const STEPS_MS: readonly number[] = [
  ...[1, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE_MS),
];

const HOUR_MS = 60 * MINUTE_MS;
/** The same and wider ones: multiples of the usual intervals of sending, so that each bucket holds as many points. */
const ROUND_STEPS_MS: readonly number[] = [...STEPS_MS, ...[2, 4, 6, 12, 24].map((hours) => hours * HOUR_MS)];

const BUCKETS_MAX = 300;

/** A stretch of time cut in equal buckets: `[from, to)` in epoch milliseconds, both multiples of the step. */
export interface Buckets {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** The value of one bucket; `at` is the bucket's start in epoch milliseconds. */
export interface BucketValue {
  readonly at: number;
  readonly value: number;
  /** Whether the value is the highest bound of a histogram, and the quantile more than it. */
  readonly isMoreThan?: boolean;
}

/**
 * Cuts the last `windowMinutes` (1 to 10080) in at most 300 buckets of the narrowest round step. The edges lie on
 * multiples of the step, so the first bucket begins up to a step before the window and the last holds `now` itself:
 * no point of the window is left out, and a bucket once past keeps its value.
 */
export function cutWindow(windowMinutes: number, now: Temporal.Instant): Buckets {
  const stepMs = chooseStep(windowMinutes);
  const nowMs = now.epochMilliseconds;
  const fromMs = bucketStart(nowMs - windowMinutes * MINUTE_MS, stepMs);
  return { fromMs, toMs: bucketStart(nowMs, stepMs) + stepMs, stepMs };
}

/** Returns the narrowest step whose buckets cover the window, with one more for the edges. */
function chooseStep(windowMinutes: number): number {
  const step = STEPS_MS.find((stepMs) => Math.ceil((windowMinutes * MINUTE_MS) / stepMs) < BUCKETS_MAX);
  if (step === undefined) throw new RangeError(`no step for a window of ${windowMinutes} minutes`);
  return step;
}

/** Returns the start of the bucket that holds the time. */
export function bucketStart(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}

/** The longest period of a chart: as long as points can be kept. */
export const CHART_MINUTES_MAX = 400 * 24 * 60;

/** Buckets of a chart. Where there are more of them than can be seen, each column shows its least and its greatest. */
export interface ChartBuckets extends Buckets {
  /** A multiple of the step; null where every bucket is shown. */
  readonly columnMs: number | null;
}

/**
 * Widths of the buckets of a chart by its length: fine enough to show a short peak. Those of long charts are whole hours or
 * days, which are rolled up: there a short peak is in `max`, and hardly in `avg`. At most 21,600 buckets.
 */
const FINENESS: readonly (readonly [lengthMs: number, stepMs: number])[] = [
  [5 * MINUTE_MS, SECOND_MS],
  [30 * MINUTE_MS, 5 * SECOND_MS],
  [6 * 60 * MINUTE_MS, 15 * SECOND_MS],
  [15 * 24 * 60 * MINUTE_MS, MINUTE_MS],
  [100 * 24 * 60 * MINUTE_MS, 60 * MINUTE_MS],
];

const COARSEST_STEP_MS = 24 * 60 * MINUTE_MS;

/**
 * Cuts `[fromMs, toMs)` for a chart of so many pixels. The edges lie on multiples of the step, which is not below the
 * interval of sending, if that is known. What does not fit in two points a pixel is shown by columns of at least a pixel.
 */
export function cutRange(fromMs: number, toMs: number, pixels: number, intervalMs = 0): ChartBuckets {
  const length = toMs - fromMs;
  const fineMs = FINENESS.find(([lengthMs]) => length <= lengthMs)?.[1] ?? COARSEST_STEP_MS;
  const stepMs = stepOfInterval(fineMs, intervalMs);
  const start = bucketStart(fromMs, stepMs);
  const end = bucketStart(toMs - 1, stepMs) + stepMs;
  const isFitting = (end - start) / stepMs <= 2 * pixels;
  return {
    fromMs: start,
    toMs: end,
    stepMs,
    columnMs: isFitting ? null : Math.ceil((end - start) / pixels / stepMs) * stepMs,
  };
}

/** Steps are compared with intervals to a twentieth: senders are seldom exact. */
const INTERVAL_SLACK = 0.05;
/** Limit on the intervals in a step that is made wider so that each holds as many points. */
const INTERVALS_MAX = 4;

/** Returns the narrowest round step that holds a whole number of intervals; if there is none, one that is not below it. */
function stepOfInterval(fineMs: number, intervalMs: number): number {
  const wide = ROUND_STEPS_MS.filter((step) => step % fineMs === 0 && step >= intervalMs * (1 - INTERVAL_SLACK));
  const holdsWhole = (step: number): boolean => {
    const intervals = step / intervalMs;
    return Math.round(intervals) > INTERVALS_MAX || Math.abs(intervals - Math.round(intervals)) <= INTERVAL_SLACK;
  };
  return wide.find((step) => intervalMs === 0 || holdsWhole(step)) ?? fineMs;
}

/** Returns buckets as wide as the columns, where one column is too narrow for its own buckets: none is reduced any more. */
export function widenToColumns({ fromMs, toMs, stepMs, columnMs }: ChartBuckets): ChartBuckets {
  if (columnMs === null) return { fromMs, toMs, stepMs, columnMs };
  const end = bucketStart(toMs - 1, columnMs) + columnMs;
  return { fromMs: bucketStart(fromMs, columnMs), toMs: end, stepMs: columnMs, columnMs: null };
}

/** Leaves out a last bucket that is not over yet, unless it is the only one. */
export function withoutBegun(buckets: ChartBuckets, nowMs: number): ChartBuckets {
  const { fromMs, toMs, stepMs } = buckets;
  return toMs <= nowMs || toMs - fromMs <= stepMs ? buckets : { ...buckets, toMs: toMs - stepMs };
}

/** Keeps the least and the greatest bucket of each column, and the newest of all: what is read as the present value. */
export function reduceToColumns(values: readonly BucketValue[], columnMs: number): BucketValue[] {
  return [...Map.groupBy(values, ({ at }) => Math.floor(at / columnMs)).values()].flatMap((column, index, all) => {
    const least = column.reduce((a, b) => (b.value < a.value ? b : a));
    const greatest = column.reduce((a, b) => (b.value > a.value ? b : a));
    const newest = index === all.length - 1 ? column.at(-1) : undefined;
    return column.filter((value) => value === least || value === greatest || value === newest);
  });
}

/** Returns buckets for rates: none is reduced, and each is a round width that columns fit in. */
export function widenForRates(buckets: ChartBuckets): ChartBuckets {
  const { columnMs } = buckets;
  const width = columnMs === null ? null : (ROUND_STEPS_MS.find((step) => step >= columnMs) ?? columnMs);
  return widenToColumns({ ...buckets, columnMs: width });
}

/** Least width of a column of a heatmap in pixels, and in time: senders export histograms once a minute. */
const COLUMN_PIXELS = 12;

/** Cuts `[fromMs, toMs)` for a heatmap of so many pixels: columns of a round width, a minute and an interval at least. */
export function cutForHeatmap(fromMs: number, toMs: number, pixels: number, intervalMs: number): ChartBuckets {
  const columns = Math.max(1, Math.floor(pixels / COLUMN_PIXELS));
  const columnMs = Math.max(MINUTE_MS, intervalMs, Math.ceil((toMs - fromMs) / columns));
  return widenForRates({ ...cutRange(fromMs, toMs, pixels), columnMs });
}

/**
 * Reduces points to at most `most`, in their order: of each stretch the one furthest from the median of all, so that no
 * peak and no dip gets lost. The last point always stays.
 */
export function downsamplePoints<Point extends { readonly value: number }>(
  points: readonly Point[],
  most: number,
): Point[] {
  if (points.length <= most) return [...points];
  const middle = points.map(({ value }) => value).toSorted((a, b) => a - b)[Math.floor(points.length / 2)] ?? 0;
  const stretches = most - 1;
  const earlier = points.slice(0, -1);
  const kept = Array.from({ length: stretches }, (_, index) => {
    const stretch = earlier.slice(
      Math.floor((index * earlier.length) / stretches),
      Math.floor(((index + 1) * earlier.length) / stretches),
    );
    return stretch.toSorted((a, b) => Math.abs(b.value - middle) - Math.abs(a.value - middle))[0];
  });
  return [...kept, points.at(-1)].flatMap((point) => point ?? []);
}

/** A series in five numbers. */
interface Summary {
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
