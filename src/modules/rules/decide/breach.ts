import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { type Comparator, METRIC_RULE_DEFAULTS, type MetricRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import type { Temporal } from '#kernel/time.ts';

const COMPARISONS: Readonly<Record<Comparator, (value: number, threshold: number) => boolean>> = {
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
};

export interface MeasuredValue {
  /** The aggregate over the window; null without data. */
  readonly value: number | null;
  /** A quantile above the highest bound of a histogram: it is more than the value, which is that bound. */
  readonly isMoreThan?: boolean | undefined;
}

/** Whether the rule's condition is true; no data is no breach, and neither is what nobody knows. */
function isBreached({ value, isMoreThan = false }: MeasuredValue, comparator: Comparator, threshold: number): boolean {
  if (value === null) return false;
  if (isMoreThan) return comparator.startsWith('>') && value >= threshold;
  return COMPARISONS[comparator](value, threshold);
}

/** Whether it is known on which side of the threshold the value is. */
function isDecided({ value, isMoreThan = false }: MeasuredValue, threshold: number): boolean {
  return value !== null && (!isMoreThan || value >= threshold);
}

/**
 * Returns the window that a rule looks at: `[fromMs, toMs)` in epoch milliseconds, which holds `now` but not `now` less
 * the window.
 */
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

/** An instant as decisions need it: of Temporal on the server, plain in the console, which loads no Temporal. */
export interface InstantLike {
  readonly epochMilliseconds: number;
}

/** State of a rule's open incident that the decision needs. */
export interface OpenBreach<At extends InstantLike = Temporal.Instant> {
  /** Time when a breach was last counted in `occurrences`: the opening, or the last raise. */
  readonly countedAt: At;
  /** Time since which every evaluation found data and the condition false; null otherwise. */
  readonly clearSince: At | null;
}

/** State of a rule that is kept besides its incident. */
export interface RuleMemory<At extends InstantLike = Temporal.Instant> {
  /** Time since which every evaluation found the condition true, while no incident is open; null otherwise. */
  readonly breachedSince: At | null;
  /** Time since which every evaluation found no data; null otherwise. */
  readonly silentSince: At | null;
  /** Time since which series that breached have sent nothing, while the others are below the threshold, or null. */
  readonly missingSince: At | null;
}

export const NO_MEMORY: RuleMemory<never> = { breachedSince: null, silentSince: null, missingSince: null };

/**
 * Series that sent data when the incident's breach was last counted and have fallen silent since; the value is with
 * these as they last were.
 */
export interface MissingSeries extends MeasuredValue {
  /** Labels of the series furthest beyond the threshold, as text. */
  readonly names: readonly string[];
  readonly count: number;
}

/** A rule as far as its judgement goes; without settings, by the defaults. */
export type JudgedRule = Pick<MetricThreshold, 'comparator' | 'threshold' | 'windowMinutes'> & {
  readonly settings?: MetricRuleSettings;
};

export interface RuleEvaluation<At extends InstantLike> extends MeasuredValue {
  /** Its data has not all arrived (see `isBehind`): what the window holds says nothing. */
  readonly isWaiting?: boolean;
  readonly open: OpenBreach<At> | null;
  readonly memory?: RuleMemory<At>;
  /** Number of incidents the rule had opened within `flapMinutes` when the open one did, including that one. */
  readonly recentIncidents?: number;
  /**
   * Missing series, or while no incident is open those that are slower than the window; null when there are none,
   * `unknown` while nobody has looked.
   */
  readonly missing?: MissingSeries | null | 'unknown';
  readonly now: At;
}

export type RuleDecision<At extends InstantLike = Temporal.Instant> =
  | { readonly kind: 'open'; readonly because: 'breach' | 'no_data' }
  /** A further breach: `countedAt` becomes `now` and `clearSince` null. */
  | { readonly kind: 'raise_occurrences' }
  | { readonly kind: 'resolve'; readonly because: 'recovered' | 'no_data' }
  /** Look for missing series and decide again: the decision depends on them. */
  | { readonly kind: 'find_missing' }
  /**
   * Keep the incident open: the condition is false only because series that breached have fallen silent. Decided once;
   * changes the memory.
   */
  | { readonly kind: 'keep_open'; readonly clearSince: null; readonly memory: RuleMemory<At> }
  /** Changes only the memory. `open`, `raise_occurrences` and `resolve` leave no memory of the rule. */
  | { readonly kind: 'remember'; readonly clearSince: At | null; readonly memory: RuleMemory<At> }
  | { readonly kind: 'nothing' };

/**
 * Decides the effect of an evaluation on the rule's incident. Evaluations come every few seconds, so while the
 * condition stays true a further breach is counted once a window; one that comes after the condition was false counts
 * at once. The incident is over once the condition was false, with data, at every evaluation for a whole window; the
 * settings of the rule may ask for more or less. An evaluation without data says neither that the condition is true nor
 * that it is false: samples may come more slowly than the window is long, also those of one series among others. Only
 * `noDataMinutes` without data end what has lasted.
 */
export function decideMetricRule<At extends InstantLike>(
  rule: JudgedRule,
  evaluation: RuleEvaluation<At>,
): RuleDecision<At> {
  const { open } = evaluation;
  return open === null ? decideOpening(rule, evaluation) : decideOpenIncident(rule, { ...evaluation, open });
}

function decideOpening<At extends InstantLike>(
  { comparator, threshold, settings = METRIC_RULE_DEFAULTS }: JudgedRule,
  { value, isMoreThan, isWaiting = false, memory = NO_MEMORY, missing = null, now }: RuleEvaluation<At>,
): RuleDecision<At> {
  if (isWaiting) return { kind: 'nothing' };
  const remember = (change: Partial<RuleMemory<At>>): RuleDecision<At> =>
    changed({ clearSince: null, memory }, { clearSince: null, memory: { ...NO_MEMORY, ...change } });
  if (isBreached({ value, isMoreThan }, comparator, threshold)) {
    const breachedSince = sinceThen(memory.breachedSince, now);
    if (hasLasted(breachedSince, settings.forMinutes, now)) return { kind: 'open', because: 'breach' };
    return remember({ breachedSince });
  }
  if (value !== null && memory.breachedSince !== null) {
    // Series that breached and send more slowly than the window is long are unknown yet.
    if (missing === 'unknown') return { kind: 'find_missing' };
    const isStillBreached = missing !== null && isBreached(missing, comparator, threshold);
    return remember(isStillBreached ? { breachedSince: memory.breachedSince } : {});
  }
  const pagesSilence = settings.noData === 'page';
  if (value !== null || (!pagesSilence && memory.breachedSince === null)) return remember({});
  const silentSince = sinceThen(memory.silentSince, now);
  const isSilent = hasLasted(silentSince, settings.noDataMinutes, now);
  if (isSilent) return pagesSilence ? { kind: 'open', because: 'no_data' } : remember({});
  return remember({ breachedSince: memory.breachedSince, silentSince });
}

function decideOpenIncident<At extends InstantLike>(
  rule: JudgedRule,
  evaluation: RuleEvaluation<At> & { readonly open: OpenBreach<At> },
): RuleDecision<At> {
  const { comparator, threshold, windowMinutes, settings = METRIC_RULE_DEFAULTS } = rule;
  const { value, isMoreThan, isWaiting = false, open, memory = NO_MEMORY, now } = evaluation;
  const { recentIncidents = 0, missing = null } = evaluation;
  const remember = (clearSince: At | null, change: Partial<RuleMemory<At>> = {}): RuleDecision<At> =>
    changed({ clearSince: open.clearSince, memory }, { clearSince, memory: { ...NO_MEMORY, ...change } });
  const { missingSince } = memory;
  if (isWaiting) return remember(null, { missingSince });
  if (isBreached({ value, isMoreThan }, comparator, threshold)) {
    const sinceCountedMs = millisecondsBetween(open.countedAt, now);
    const isNew =
      open.clearSince !== null || sinceCountedMs >= windowMinutes * MINUTE_MS || isBeforeItsTime(sinceCountedMs);
    return isNew ? { kind: 'raise_occurrences' } : remember(null);
  }
  if (value === null) {
    const silentSince = sinceThen(memory.silentSince, now);
    const isSilent = hasLasted(silentSince, settings.noDataMinutes, now);
    if (isSilent && settings.noData === 'resolve') return { kind: 'resolve', because: 'no_data' };
    return remember(isSilent ? null : open.clearSince, { silentSince, missingSince });
  }
  if (!isClear(rule, { value, isMoreThan })) return remember(null, { missingSince });
  const clearSince = sinceThen(open.clearSince, now);
  const hasRecovered = hasLasted(clearSince, minutesToRecover(rule, recentIncidents), now);
  if (!hasRecovered && missingSince === null) return remember(clearSince);
  if (missing === 'unknown') return { kind: 'find_missing' };
  if (missing === null || isClear(rule, missing)) {
    return hasRecovered ? { kind: 'resolve', because: 'recovered' } : remember(clearSince);
  }
  const since = sinceThen(missingSince ?? clearSince, now);
  if (settings.noData === 'resolve' && hasLasted(since, settings.noDataMinutes, now)) {
    return { kind: 'resolve', because: 'no_data' };
  }
  if (missingSince !== null) return remember(null, { missingSince: since });
  return { kind: 'keep_open', clearSince: null, memory: { ...NO_MEMORY, missingSince: since } };
}

/** Whether a value is on the safe side of the threshold, and of the recovery threshold where there is one. */
function isClear(
  { comparator, threshold, settings = METRIC_RULE_DEFAULTS }: JudgedRule,
  measured: MeasuredValue,
): boolean {
  const { recoveryThreshold } = settings;
  const limits = recoveryThreshold === null ? [threshold] : [threshold, recoveryThreshold];
  return limits.every(
    (limit) => !isBreached(measured, comparator, limit) && (measured.value === null || isDecided(measured, limit)),
  );
}

/** Returns how many minutes the condition has to be false before an incident is over. */
export function minutesToRecover(
  { windowMinutes, settings = METRIC_RULE_DEFAULTS }: Pick<JudgedRule, 'windowMinutes' | 'settings'>,
  recentIncidents: number,
): number {
  const flapMinutes = isFlapping(settings, recentIncidents) ? settings.flapMinutes : 0;
  return Math.max(settings.recoveryMinutes ?? windowMinutes, flapMinutes);
}

/** Whether a rule opens and resolves incidents so often that the last one stays open. */
export function isFlapping(
  { flapIncidents }: Pick<MetricRuleSettings, 'flapIncidents'>,
  recentIncidents: number,
): boolean {
  return flapIncidents !== null && recentIncidents >= flapIncidents;
}

const MINUTE_MS = 60_000;

interface Remembered<At extends InstantLike> {
  readonly clearSince: At | null;
  readonly memory: RuleMemory<At>;
}

function changed<At extends InstantLike>(before: Remembered<At>, after: Remembered<At>): RuleDecision<At> {
  const isSame =
    isSameTime(before.clearSince, after.clearSince) &&
    isSameTime(before.memory.breachedSince, after.memory.breachedSince) &&
    isSameTime(before.memory.silentSince, after.memory.silentSince) &&
    isSameTime(before.memory.missingSince, after.memory.missingSince);
  return isSame ? { kind: 'nothing' } : { kind: 'remember', ...after };
}

function isSameTime(a: InstantLike | null, b: InstantLike | null): boolean {
  return a?.epochMilliseconds === b?.epochMilliseconds;
}

/** Returns since when a condition lasts: from now on if it has just begun, or the clock was set back to before it. */
function sinceThen<At extends InstantLike>(since: At | null, now: At): At {
  return since === null || isBeforeItsTime(millisecondsBetween(since, now)) ? now : since;
}

function hasLasted(since: InstantLike, minutes: number, now: InstantLike): boolean {
  return millisecondsBetween(since, now) >= minutes * MINUTE_MS;
}

/** Whether the stored time lies ahead because the clock has been set back. Two processes may differ a little. */
function isBeforeItsTime(elapsedMs: number): boolean {
  return elapsedMs < -60_000;
}

function millisecondsBetween(from: InstantLike, to: InstantLike): number {
  return to.epochMilliseconds - from.epochMilliseconds;
}
