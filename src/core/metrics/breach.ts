import type { Comparator } from '#core/metrics/comparator.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import type { Temporal } from '#kernel/time.ts';

const COMPARISONS: Readonly<Record<Comparator, (value: number, threshold: number) => boolean>> = {
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
};

/** Whether the rule's condition is true; no data is no breach. */
function isBreached(value: number | null, comparator: Comparator, threshold: number): boolean {
  return value !== null && COMPARISONS[comparator](value, threshold);
}

/** The stretch that a rule looks at: `[fromMs, toMs)` in epoch milliseconds, which holds `now` but not `now` less the window. */
export function ruleWindow(windowMinutes: number, now: Temporal.Instant): { fromMs: number; toMs: number } {
  const toMs = now.epochMilliseconds + 1;
  return { fromMs: toMs - windowMinutes * 60_000, toMs };
}

const STEPS_OF_WINDOW = 60;
const STEP_SECONDS = { min: 5, max: 60 };

/**
 * Whether points of the rule's service have waited to be stored for longer than the last step of its window, a sixtieth
 * of it within 5 to 60 s. Then what the window holds says neither that the condition is true nor that it is false.
 */
export function isBehind(windowMinutes: number, waitingSince: Temporal.Instant | null, now: Temporal.Instant): boolean {
  if (waitingSince === null) return false;
  const stepSeconds = Math.min(STEP_SECONDS.max, Math.max(STEP_SECONDS.min, (windowMinutes * 60) / STEPS_OF_WINDOW));
  return millisecondsBetween(waitingSince, now) > stepSeconds * 1_000;
}

/** An instant, as far as decisions need it: of Temporal on the server, plain in the console, which loads no Temporal. */
export interface Moment {
  readonly epochMilliseconds: number;
}

/** What the decision needs to know of a rule's open incident. */
export interface OpenBreach<At extends Moment = Temporal.Instant> {
  /** When a breach was last counted in `occurrences`: the opening, or the last raise. */
  readonly countedAt: At;
  /** Since when each evaluation found data and the condition false; null while that is not so. */
  readonly clearSince: At | null;
}

export interface RuleEvaluation<At extends Moment> {
  /** The aggregate over the window; null without data. */
  readonly value: number | null;
  readonly open: OpenBreach<At> | null;
  readonly now: At;
}

export type RuleDecision<At extends Moment = Temporal.Instant> =
  | { readonly kind: 'open' }
  /** A further breach: `countedAt` becomes `now` and `clearSince` null. */
  | { readonly kind: 'raise_occurrences' }
  | { readonly kind: 'resolve' }
  /** Only what is remembered of the open incident changes. */
  | { readonly kind: 'remember'; readonly clearSince: At | null }
  | { readonly kind: 'nothing' };

/**
 * What an evaluation means for the rule's incident. Evaluations come every few seconds, so while the condition stays
 * true a further breach is counted once a window; one that comes after the condition was false counts at once. The
 * incident is over once the condition was false, with data, at every evaluation for a whole window.
 */
export function decideMetricRule<At extends Moment>(
  { comparator, threshold, windowMinutes }: Pick<MetricThreshold, 'comparator' | 'threshold' | 'windowMinutes'>,
  { value, open, now }: RuleEvaluation<At>,
): RuleDecision<At> {
  const breached = isBreached(value, comparator, threshold);
  if (open === null) return { kind: breached ? 'open' : 'nothing' };
  const windowMs = windowMinutes * 60_000;
  if (breached) {
    const sinceCountedMs = millisecondsBetween(open.countedAt, now);
    const isNew = open.clearSince !== null || sinceCountedMs >= windowMs || isBeforeItsTime(sinceCountedMs);
    return { kind: isNew ? 'raise_occurrences' : 'nothing' };
  }
  if (value === null) return open.clearSince === null ? { kind: 'nothing' } : { kind: 'remember', clearSince: null };
  if (open.clearSince === null) return { kind: 'remember', clearSince: now };
  const clearMs = millisecondsBetween(open.clearSince, now);
  if (isBeforeItsTime(clearMs)) return { kind: 'remember', clearSince: now };
  return { kind: clearMs >= windowMs ? 'resolve' : 'nothing' };
}

/** What is remembered lies ahead: the clock has been set back since. Two processes may be a little apart. */
function isBeforeItsTime(elapsedMs: number): boolean {
  return elapsedMs < -60_000;
}

function millisecondsBetween(from: Moment, to: Moment): number {
  return to.epochMilliseconds - from.epochMilliseconds;
}
