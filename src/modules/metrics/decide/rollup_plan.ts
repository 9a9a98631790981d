import { COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import type { Buckets } from '#modules/metrics/decide/buckets.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A time without gaps, of whole hours: `[fromMs, toMs)`. Several are in order and do not overlap. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The times whose rollups of hours and of days say exactly what their points do. */
export interface ValidRollups {
  readonly hours: readonly Stretch[];
  readonly days: readonly Stretch[];
}

/** Source for each hour of a window. The three do not overlap. */
export interface RollupPlan {
  /** Whole days that are read from their rollups. */
  readonly days: readonly Stretch[];
  /** Hours that are read from theirs. */
  readonly hours: readonly Stretch[];
  /** Hours whose points are read: those at the edges of the window, and those that are not rolled up. */
  readonly raw: readonly Stretch[];
}

/**
 * The time of points that a query reads: `[lookbackMs, toMs)`, of which those before `fromMs` are only what counters
 * grew from.
 */
export interface ReadPeriod {
  readonly reachMs: number;
  readonly lookbackMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * `keptMs`: older points are as if they were not there. Buckets of whole hours are many days, so that what a counter grew
 * by before the first of them is left to the lookback.
 */
export function readPeriodOf(buckets: Buckets, keptMs: number): ReadPeriod {
  const { fromMs, toMs } = buckets;
  const from = Math.max(fromMs, keptMs);
  const since = (ms: number): number => Math.max(from - ms, keptMs);
  const reachMs = since(isOfWholeHours(buckets) ? COUNTER_LOOKBACK_MS : COUNTER_REACH_MS);
  return { reachMs, lookbackMs: since(COUNTER_LOOKBACK_MS), fromMs: from, toMs };
}

/** Whether buckets hold whole hours, so that rollups can answer for them. */
export function isOfWholeHours({ fromMs, toMs, stepMs }: Buckets): boolean {
  return stepMs % HOUR_MS === 0 && fromMs % HOUR_MS === 0 && toMs % HOUR_MS === 0;
}

/** Plans the reads of a window; null if no rollup lies in it. */
export function planRollups(
  { lookbackMs, fromMs, toMs }: ReadPeriod,
  stepMs: number,
  valid: ValidRollups,
): RollupPlan | null {
  const days = stepMs % DAY_MS === 0 ? within(valid.days, wholeOf(DAY_MS, fromMs, toMs)) : [];
  const hours = without(within(valid.hours, wholeOf(HOUR_MS, fromMs, toMs)), days);
  if (days.length + hours.length === 0) return null;
  const rolledUp = [...days, ...hours].toSorted((a, b) => a.fromMs - b.fromMs);
  const all = { fromMs: lookbackMs - (lookbackMs % HOUR_MS), toMs: Math.ceil(toMs / HOUR_MS) * HOUR_MS };
  return { days, hours, raw: without([all], rolledUp) };
}

/** Returns the whole hours or days between two times. */
function wholeOf(spanMs: number, fromMs: number, toMs: number): Stretch {
  return { fromMs: Math.ceil(fromMs / spanMs) * spanMs, toMs: Math.floor(toMs / spanMs) * spanMs };
}

function within(stretches: readonly Stretch[], { fromMs, toMs }: Stretch): Stretch[] {
  return stretches
    .map((stretch) => ({ fromMs: Math.max(stretch.fromMs, fromMs), toMs: Math.min(stretch.toMs, toMs) }))
    .filter((stretch) => stretch.fromMs < stretch.toMs);
}

function without(stretches: readonly Stretch[], taken: readonly Stretch[]): Stretch[] {
  const left: Stretch[] = [];
  let next = 0;
  for (const { fromMs, toMs } of stretches) {
    let at = fromMs;
    while ((taken[next]?.toMs ?? Infinity) <= at) next += 1;
    for (let index = next; (taken[index]?.fromMs ?? Infinity) < toMs; index += 1) {
      const { fromMs: takenFromMs, toMs: takenToMs } = taken[index] ?? { fromMs: toMs, toMs };
      if (at < takenFromMs) left.push({ fromMs: at, toMs: takenFromMs });
      at = Math.max(at, takenToMs);
    }
    if (at < toMs) left.push({ fromMs: at, toMs });
  }
  return left;
}

/** Returns at most `most` stretches that hold all of these: further ones are joined across the shortest gaps. */
export function joinNearest(stretches: readonly Stretch[], most: number): readonly Stretch[] {
  if (stretches.length <= most) return stretches;
  const gapBefore = (index: number): number => (stretches[index]?.fromMs ?? 0) - (stretches[index - 1]?.toMs ?? 0);
  const begins = stretches
    .map((_, index) => index)
    .slice(1)
    .toSorted((a, b) => gapBefore(b) - gapBefore(a))
    .slice(0, most - 1);
  const first = [0, ...begins].toSorted((a, b) => a - b);
  return first.map((start, place) => ({
    fromMs: stretches[start]?.fromMs ?? 0,
    toMs: stretches[(first[place + 1] ?? stretches.length) - 1]?.toMs ?? 0,
  }));
}

/** Returns the starts of the hours or days in them. */
export function startsIn(stretches: readonly Stretch[], spanMs: number): number[] {
  return stretches.flatMap(({ fromMs, toMs }) =>
    Array.from({ length: (toMs - fromMs) / spanMs }, (_, place) => fromMs + place * spanMs),
  );
}
