import { COUNTER_LOOKBACK_MS } from '#core/metrics/aggregation.ts';
import type { Buckets } from '#core/metrics/buckets.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Hours and days whose rollups say exactly what their points do: their starts in epoch milliseconds. */
interface ValidRollups {
  readonly hours: readonly number[];
  readonly days: readonly number[];
}

/** Where each hour of a window is read from. The three do not overlap. */
export interface RollupPlan {
  /** Days that are read from their rollups. */
  readonly days: readonly number[];
  /** Hours that are read from theirs. */
  readonly hours: readonly number[];
  /** Hours whose points are read: those at the edges of the window, and those that are not rolled up. */
  readonly rawHours: readonly number[];
}

/** The time of points that a query reads: `[lookbackMs, toMs)`, of which those before `fromMs` are only what counters grew from. */
export interface ReadPeriod {
  readonly lookbackMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** `keptMs`: older points are as if they were not there. */
export function readPeriodOf({ fromMs, toMs }: Buckets, keptMs: number): ReadPeriod {
  const from = Math.max(fromMs, keptMs);
  return { lookbackMs: Math.max(from - COUNTER_LOOKBACK_MS, keptMs), fromMs: from, toMs };
}

/** Whether buckets hold whole hours, so that rollups can answer for them. */
export function isOfWholeHours({ fromMs, toMs, stepMs }: Buckets): boolean {
  return stepMs % HOUR_MS === 0 && fromMs % HOUR_MS === 0 && toMs % HOUR_MS === 0;
}

/** Null where no rollup lies in the window. */
export function planRollups(
  { lookbackMs, fromMs, toMs }: ReadPeriod,
  stepMs: number,
  valid: ValidRollups,
): RollupPlan | null {
  const isWithin = (span: number) => (start: number) => start >= fromMs && start + span <= toMs;
  const days = stepMs % DAY_MS === 0 ? valid.days.filter(isWithin(DAY_MS)) : [];
  const ofDays = new Set(days);
  const hours = valid.hours.filter(isWithin(HOUR_MS)).filter((hour) => !ofDays.has(hour - (hour % DAY_MS)));
  const ofHours = new Set(hours);
  const rawHours: number[] = [];
  for (let hour = lookbackMs - (lookbackMs % HOUR_MS); hour < toMs; hour += HOUR_MS) {
    if (!ofHours.has(hour) && !ofDays.has(hour - (hour % DAY_MS))) rawHours.push(hour);
  }
  return days.length + hours.length === 0 ? null : { days, hours, rawHours };
}

/** Hours one after the other: `[fromMs, toMs)`. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The hours, in order, as stretches; where these were more than `most`, those with the shortest gaps between them are one. */
export function stretchesOf(hours: readonly number[], most: number): readonly Stretch[] {
  const stretches: { fromMs: number; toMs: number }[] = [];
  for (const hour of hours) {
    const last = stretches.at(-1);
    if (last?.toMs === hour) last.toMs += HOUR_MS;
    else stretches.push({ fromMs: hour, toMs: hour + HOUR_MS });
  }
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
