import type { Id } from '#kernel/ids.ts';
import { addMinutesSaturating, isAtOrBefore, Temporal } from '#kernel/time.ts';
import { dueWithin } from '#modules/policies/decide/hours.ts';
import type { SnapshotDetails, StepDetails } from '#modules/policies/decide/policy_details.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';

/**
 * Returns new steps, given by the contract's fields alone, with what the stored ones say beyond: each keeps what the step
 * at its place says. Null when that cannot be told: there are more or fewer steps, one no longer asks the schedules, or
 * one that stands for another policy is given people, whom it would never page.
 */
export function keepDetails(
  stored: readonly EscalationStep[],
  sent: readonly EscalationStep[],
): readonly EscalationStep[] | null {
  if (!stored.some(saysMore)) return sent;
  if (stored.length !== sent.length) return null;
  const kept = sent.map((step, index) => ({ ...stored[index], ...step }));
  const isLost = kept.some((step, index) => {
    const before = stored[index];
    if (before === undefined || !saysMore(before)) return false;
    return before.useSchedule !== step.useSchedule || (before.policyId !== undefined && step.targetUserIds.length > 0);
  });
  return isLost ? null : kept;
}

/** Whether a step says anything beyond the contract's fields. */
function saysMore({ afterMinutes: _, channels: __, targetUserIds: ___, useSchedule: ____, ...more }: EscalationStep) {
  return Object.keys(more).length > 0;
}

type Instant = Temporal.Instant;

/** An entry of an escalation policy, as the incident's snapshot keeps it. */
export interface EscalationStep extends StepDetails, SnapshotDetails {
  /** Minutes after the trigger, not after the step before; 0 to 2^53-1. */
  readonly afterMinutes: number;
  readonly channels: readonly Channel[];
  readonly targetUserIds: readonly Id<'user'>[];
  /** Whether it also pages people on call in the team of the policy when the step fires. */
  readonly useSchedule: boolean;
  /** Time of the reassignment that added the step, as a timestamp; its minutes count from then. Else absent. */
  readonly countsFrom?: string;
  /** Number of the first step that an incident keeps, among all that it has had; set once earlier ones were dropped. */
  readonly index?: number;
}

/** Fields of a step on which its time and its number depend. */
type Timed = Pick<EscalationStep, 'afterMinutes' | 'countsFrom' | 'index' | 'hours'>;

export interface PlannedStep {
  readonly stepIndex: number;
  readonly dueAt: Instant;
}

/** Returns the number of the first of these steps among all that the incident has had, from 0. */
export function firstStepIndex(steps: readonly Pick<EscalationStep, 'index'>[]): number {
  return steps[0]?.index ?? 0;
}

export function stepCountOf(steps: readonly Pick<EscalationStep, 'index'>[]): number {
  return firstStepIndex(steps) + steps.length;
}

/** Returns the index of the first step of the present run: earlier ones came before a hand-over or a repetition. */
export function firstStepOfRun(steps: readonly Pick<EscalationStep, 'index' | 'countsFrom'>[]): number {
  const countsFrom = steps.at(-1)?.countsFrom;
  return firstStepIndex(steps) + steps.findLastIndex((step) => step.countsFrom !== countsFrom) + 1;
}

/** Returns the step of this number; undefined when there is none, or it is no longer kept. */
export function stepAt<Step extends Pick<EscalationStep, 'index'>>(
  steps: readonly Step[],
  stepIndex: number,
): Step | undefined {
  return steps[stepIndex - firstStepIndex(steps)];
}

/**
 * Returns the timers of an incident, in the order of the policy. Each step fires at its own time, so one that is listed
 * later with a smaller `afterMinutes` fires earlier. A step that would come due beyond FAR_FUTURE stays there.
 */
export function planSteps(steps: readonly Timed[], triggeredAt: Instant): PlannedStep[] {
  const first = firstStepIndex(steps);
  return steps.map((step, place) => ({ stepIndex: first + place, dueAt: dueAtOf(step, triggeredAt) }));
}

function dueAtOf({ afterMinutes, countsFrom, hours }: Timed, triggeredAt: Instant): Instant {
  const from = countsFrom === undefined ? triggeredAt : Temporal.Instant.from(countsFrom);
  if (hours === undefined) return addMinutesSaturating(from, afterMinutes);
  return dueWithin(hours, addMinutesSaturating(from, hours.afterMinutes), afterMinutes - hours.afterMinutes);
}

/** Whether a step waits for hours to begin: it comes due later than its minutes alone would say. */
export function waitsForHours(step: Timed, dueAt: Instant, triggeredAt: Instant): boolean {
  if (step.hours === undefined) return false;
  const { hours: _, ...always } = step;
  return !isAtOrBefore(dueAt, dueAtOf(always, triggeredAt));
}

/**
 * Returns the step that fires at once when this one reaches nobody or the last channel of a person has failed: the next
 * in time, and among equal times in the order of the policy. Null after the last one. Reads the snapshot, never timers
 * that may have been brought forward, so that several answers for one step agree. A step from before a reassignment is
 * followed by none of those that came with it.
 */
export function stepAfter(steps: readonly Timed[], stepIndex: number): number | null {
  const first = firstStepIndex(steps);
  const order = steps
    .map(({ afterMinutes, countsFrom }, place) => ({ index: first + place, afterMinutes, countsFrom }))
    .filter(({ countsFrom }) => countsFrom === stepAt(steps, stepIndex)?.countsFrom)
    .sort((a, b) => a.afterMinutes - b.afterMinutes || a.index - b.index)
    .map(({ index }) => index);
  const place = order.indexOf(stepIndex);
  return place === -1 ? null : (order[place + 1] ?? null);
}

/** Time within which an undone answer was a mistake: its timers have not stopped. */
const MISTAKE_MS_MAX = 5 * 60_000;

/**
 * Returns the new timers after an answer was undone. After a mistake each is due when it was before, which may be at
 * once. After a longer time they continue from where they stopped: steps that came due meanwhile must not page
 * everybody in the same second.
 */
export function resumeTimers(stopped: readonly PlannedStep[], stoppedAt: Instant, now: Instant): PlannedStep[] {
  const laterMinutes = minutesStopped(stoppedAt, now);
  return stopped.map(({ stepIndex, dueAt }) => ({ stepIndex, dueAt: addMinutesSaturating(dueAt, laterMinutes) }));
}

/** Returns the delay of timers that were stopped at `stoppedAt`, in minutes; 0 if they have not stopped. */
export function minutesStopped(stoppedAt: Instant, now: Instant): number {
  const stoppedMs = now.epochMilliseconds - stoppedAt.epochMilliseconds;
  return stoppedMs <= MISTAKE_MS_MAX ? 0 : Math.ceil(stoppedMs / 60_000);
}
