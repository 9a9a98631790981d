import type { Temporal } from '#kernel/time.ts';

/** Observed intervals, in seconds, at which a source repeats an alert that goes on. */
export interface Repetition {
  /** The longest time between two events of one alert; null before the first repetition. */
  readonly longest: number | null;
  /** The shortest. */
  readonly shortest: number | null;
}

export const NO_REPETITION: Repetition = { longest: null, shortest: null };

/** A gap of a day or more is no rhythm: the alert came back. */
const GAP_SECONDS_MAX = 86_400;
/** Two processes of one tool may send the same within this time. */
const GAP_SECONDS_MIN = 5;
const GROUP_INTERVAL_SECONDS = 300;

/** Returns the intervals after an alert was repeated `seconds` after its last event. */
export function learnGap({ longest, shortest }: Repetition, seconds: number): Repetition {
  if (seconds < GAP_SECONDS_MIN || seconds > GAP_SECONDS_MAX) return { longest, shortest };
  const gap = Math.round(seconds);
  return { longest: Math.max(longest ?? gap, gap), shortest: Math.min(shortest ?? gap, gap) };
}

/**
 * Returns the time until which an alert is repeated if it goes on: what its tool says, else the setting of its source, else
 * what was learnt (the longest gap and two intervals more). Null if nothing is known.
 */
export function leaseOf(
  toldUntil: Temporal.Instant | null,
  { leaseMinutes, learns }: { readonly leaseMinutes: number | null; readonly learns: boolean },
  { longest, shortest }: Repetition,
  now: Temporal.Instant,
): Temporal.Instant | null {
  if (leaseMinutes !== null) return now.add({ minutes: leaseMinutes });
  if (toldUntil !== null) return toldUntil;
  if (!learns || longest === null) return null;
  const interval = Math.min(longest, shortest ?? GROUP_INTERVAL_SECONDS);
  return now.add({ seconds: longest + 2 * Math.max(interval, 30) });
}
