import { type EscalationStep, firstStepIndex, stepAt } from '#modules/policies/decide/escalation.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';

import { isWithin, nextWithin } from '#modules/policies/decide/hours.ts';
import type { Repetition } from '#modules/policies/decide/policy_details.ts';

type Instant = Temporal.Instant;

/** Repetition of the steps of an incident, as its policy said when it began to page. */
export interface Repeats extends Repetition {
  readonly steps: readonly EscalationStep[];
  /** Rounds that have begun after the first. */
  readonly done: number;
}

interface Timer {
  readonly stepIndex: number;
  readonly dueAt: Instant;
  readonly state: 'pending' | 'fired' | 'skipped' | 'cancelled';
}

/** Returns how an incident repeats the steps of a run that begins; null when it does not. */
export function repeatsOf(run: {
  readonly steps: readonly EscalationStep[];
  readonly repeat: Repetition | null;
}): Repeats | null {
  return run.repeat === null || run.steps.length === 0 ? null : { ...run.repeat, steps: run.steps, done: 0 };
}

/**
 * Returns the steps of the next round once a step has fired after which none of its round is left; null while some are,
 * when the policy has repeated often enough, and for a step of an earlier round.
 */
export function nextRound(
  { steps, repeats }: { readonly steps: readonly EscalationStep[]; readonly repeats: Repeats | null },
  timers: readonly Timer[],
  stepIndex: number,
  now: Instant,
): EscalationStep[] | null {
  if (repeats === null || repeats.done >= repeats.times) return null;
  const round = stepAt(steps, stepIndex)?.countsFrom;
  if (steps.at(-1)?.countsFrom !== round) return null;
  const first = firstStepIndex(steps);
  const pending = new Set(timers.flatMap((timer) => (timer.state === 'pending' ? [timer.stepIndex] : [])));
  if (steps.some(({ countsFrom }, place) => countsFrom === round && pending.has(first + place))) return null;
  const countsFrom = toTimestamp(now.add({ minutes: repeats.pauseMinutes }));
  return repeats.steps.map(({ index: _, ...step }) => ({ ...step, countsFrom }));
}

/** Lateness, in milliseconds, up to which a step that came due within the hours still fires when they have ended. */
const LATE_MS_MAX = 5 * 60_000;

/**
 * Returns when a step that is due waits for its hours to begin; null when it may fire. A person who asks for a step is
 * not kept waiting.
 */
export function waitsUntil(
  { hours }: Pick<EscalationStep, 'hours'>,
  { dueAt, reason }: { readonly dueAt: Instant; readonly reason: string | null },
  now: Instant,
): Instant | null {
  if (hours === undefined || reason === 'escalated' || isWithin(hours, now)) return null;
  const lateMs = now.epochMilliseconds - dueAt.epochMilliseconds;
  return lateMs <= LATE_MS_MAX && isWithin(hours, dueAt) ? null : nextWithin(hours, now);
}

/**
 * Returns the timers that move when one waits until then: it and those that come due before, each as much later than it
 * as before, so that they do not all fire in the same second.
 */
export function moveBehind(timers: readonly Timer[], stepIndex: number, until: Instant): Timer[] {
  const waiting = timers.find((timer) => timer.stepIndex === stepIndex);
  if (waiting === undefined) return [];
  const laterMs = until.epochMilliseconds - waiting.dueAt.epochMilliseconds;
  return timers
    .filter(({ state, dueAt }) => state === 'pending' && dueAt.epochMilliseconds < until.epochMilliseconds)
    .map((timer) => ({ ...timer, dueAt: timer.dueAt.add({ milliseconds: laterMs }) }));
}

/** An acknowledgement by one person of an incident that everybody must acknowledge. */
export interface Acknowledgement {
  readonly userId: Id<'user'>;
  /** RFC 3339. */
  readonly at: string;
}

/**
 * Returns the people whose acknowledgement an incident still needs after that of a person; none when it is acknowledged
 * as a whole. `awaited` has everybody whom a step that needs everybody has paged.
 */
export function stillAwaited(
  awaited: readonly Id<'user'>[],
  acknowledged: readonly Acknowledgement[],
  userId: Id<'user'>,
): Id<'user'>[] {
  const answered = new Set([...acknowledged.map((earlier) => earlier.userId), userId]);
  return [...new Set(awaited)].filter((id) => !answered.has(id));
}

/**
 * Returns the acknowledgements that still count once a person has undone theirs. That of the last person acknowledged the
 * incident as a whole (`whole`) and stands for them alone from now on, unless it is the one that was undone.
 */
export function withoutAcknowledgementOf(
  acknowledged: readonly Acknowledgement[],
  whole: Acknowledgement | null,
  userId: string | null,
): Acknowledgement[] {
  const others = acknowledged.filter((earlier) => earlier.userId !== userId);
  return whole === null || others.length === acknowledged.length || whole.userId === userId
    ? others
    : [...others, whole];
}
