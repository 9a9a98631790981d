import type { StepTimerRow } from './escalation_state.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import {
  type EscalationStep,
  firstStepIndex,
  type PlannedStep,
  planSteps,
  resumeTimers,
  stepAt,
  stepCountOf,
} from '#modules/policies/decide/escalation.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';

type Instant = Temporal.Instant;

export type Assignee =
  | { readonly kind: 'policy'; readonly steps: readonly EscalationStep[] }
  | { readonly kind: 'person'; readonly userId: Id<'user'>; readonly channels: readonly Channel[] };

/** The steps that follow those the incident has, each with its timer. */
export interface Reassignment {
  readonly steps: readonly EscalationStep[];
  readonly timers: readonly PlannedStep[];
}

export interface EscalationAtReassignment {
  readonly steps: readonly EscalationStep[];
  readonly timers: readonly StepTimerRow[];
  /** Time of the acknowledgement; null while it waits for one. */
  readonly acknowledgedAt: Instant | null;
  /** Time until which its pages wait, or waited, for the end of a maintenance; null or absent if they do not. */
  readonly suppressedUntil?: Instant | null;
}

/** Limit on the steps of an incident, however often it is reassigned or pages again. */
export const INCIDENT_STEPS_MAX = 400;

/**
 * Appends steps to those of an incident. Beyond the limit the oldest are dropped, together with all that were added
 * with them: none of them fires any more, and the timeline says what became of them. A step keeps its number.
 */
export function followedBy(steps: readonly EscalationStep[], more: readonly EscalationStep[]): EscalationStep[] {
  let dropped = Math.min(steps.length, Math.max(0, steps.length + more.length - INCIDENT_STEPS_MAX));
  if (dropped === 0) return [...steps, ...more];
  while (dropped < steps.length && steps[dropped]?.countsFrom === steps[dropped - 1]?.countsFrom) dropped += 1;
  const [first, ...rest] = [...steps.slice(dropped), ...more];
  return first === undefined ? [] : [{ ...first, index: firstStepIndex(steps) + dropped }, ...rest];
}

/** Appends the steps of a run that replaces the earlier ones: nobody whom those paged must acknowledge any more. */
export function replacedBy(steps: readonly EscalationStep[], more: readonly EscalationStep[]): EscalationStep[] {
  return followedBy(
    steps.map(({ needsEverybody: _, ...step }) => step),
    more,
  );
}

/** Minutes for which, after an acknowledgement, only the person is paged before the policy continues. */
const ALONE_MINUTES = 5;

/**
 * Plans a reassignment. A policy begins with its first step now. A person is paged at once, and the rest of the
 * escalation follows them: each step at its time, and after an acknowledgement from where it stopped. So a page that
 * this person misses reaches the next. Earlier steps no longer fire.
 */
export function planReassignment(standing: EscalationAtReassignment, to: Assignee, now: Instant): Reassignment {
  const countsFrom = toTimestamp(now);
  const first = stepCountOf(standing.steps);
  if (to.kind === 'policy') {
    const steps = to.steps.map((step) => ({ ...numberless(step), countsFrom }));
    return { steps, timers: planSteps(steps, now).map((timer) => from(timer, first)) };
  }
  const { userId, channels } = to;
  const left = stepsLeft(standing, now).flatMap(({ stepIndex, dueAt }) => {
    const step = stepAt(standing.steps, stepIndex);
    return step === undefined ? [] : [{ step: numberless(step), dueAt }];
  });
  return {
    steps: [
      { afterMinutes: 0, channels, targetUserIds: [userId], useSchedule: false, countsFrom },
      ...left.map(({ step, dueAt }) => {
        const afterMinutes = wholeMinutes(now, dueAt);
        return { ...step, afterMinutes, countsFrom, ...(step.hours && { hours: { ...step.hours, afterMinutes } }) };
      }),
    ],
    timers: [
      { stepIndex: first, dueAt: now },
      ...left.map(({ dueAt }, index) => ({ stepIndex: first + 1 + index, dueAt })),
    ],
  };
}

/** Returns the steps that have not fired, in time, with when they would fire now. */
function stepsLeft(standing: EscalationAtReassignment, now: Instant): PlannedStep[] {
  const { timers, acknowledgedAt, suppressedUntil } = standing;
  const waiting =
    acknowledgedAt === null
      ? timers.filter(({ state }) => state === 'pending')
      : resumed(timers, stoppedAt(acknowledgedAt, suppressedUntil ?? acknowledgedAt, now), now);
  return waiting.toSorted((a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds || a.stepIndex - b.stepIndex);
}

/** Returns when an acknowledgement stopped the timers: those that wait for the end of a maintenance have not run before. */
function stoppedAt(acknowledgedAt: Instant, suppressedUntil: Instant, now: Instant): Instant {
  const ranFrom = isAtOrBefore(suppressedUntil, now) ? suppressedUntil : now;
  return isAtOrBefore(acknowledgedAt, ranFrom) ? ranFrom : acknowledgedAt;
}

function resumed(timers: readonly StepTimerRow[], stopped: Instant, now: Instant): PlannedStep[] {
  const cancelled = timers.filter(({ state, reason }) => state === 'cancelled' && reason === 'acknowledged');
  const earliest = now.add({ minutes: ALONE_MINUTES });
  return resumeTimers(cancelled, stopped, now).map(({ stepIndex, dueAt }) => ({
    stepIndex,
    dueAt: dueAt.epochMilliseconds < earliest.epochMilliseconds ? earliest : dueAt,
  }));
}

function numberless({ index: _, ...step }: EscalationStep): EscalationStep {
  return step;
}

function from({ stepIndex, dueAt }: PlannedStep, first: number): PlannedStep {
  return { stepIndex: first + stepIndex, dueAt };
}

/** Returns whole minutes until then, rounded down: a step is never due later than it says. */
function wholeMinutes(now: Instant, dueAt: Instant): number {
  return Math.max(0, Math.floor((dueAt.epochMilliseconds - now.epochMilliseconds) / 60_000));
}
