import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { StepTimerRow } from '#modules/incidents/decide/step_records.ts';
import type { PlannedStep } from '#modules/policies/decide/escalation.ts';
import { addMinutesSaturating, isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** Limit on the minutes for which an organization lets an agent hold the first step. */
export const HOLD_MINUTES_MAX = 10;

/** Facts on which the time of the first step depends. */
export interface HoldState {
  readonly status: IncidentStatus;
  /** The steps as the policy set them at the trigger. */
  readonly planned: readonly PlannedStep[];
  readonly timers: readonly StepTimerRow[];
  /** Limit of the organization. */
  readonly holdMinutes: number;
  /** Time until which an agent holds the incident; null for no lease. */
  readonly leaseUntil: Instant | null;
}

/**
 * Returns the new time of the first step, or null when it stays as it is. While a lease is held the step waits for its
 * end, but never more than `holdMinutes` after the time that the policy gave it. Every other step keeps its time. A
 * step that has come due, that a person has brought forward, or that follows an answer is never moved.
 */
export function decideHold(state: HoldState, now: Instant): PlannedStep | null {
  const { status, planned, timers, holdMinutes, leaseUntil } = state;
  const first = firstOf(planned);
  const timer = timers.find(({ stepIndex }) => stepIndex === first?.stepIndex);
  if (status !== 'triggered' || first === undefined || timer === undefined) return null;
  if (timers.some((other) => other.state !== 'pending') || timer.reason !== null) return null;
  const latest = addMinutesSaturating(first.dueAt, HOLD_MINUTES_MAX);
  if (!isAtOrBefore(first.dueAt, timer.dueAt) || !isAtOrBefore(timer.dueAt, latest)) return null;
  const dueAt = heldUntil(first.dueAt, holdMinutes, leaseUntil);
  if (dueAt.epochMilliseconds === timer.dueAt.epochMilliseconds) return null;
  const isLater = isAtOrBefore(timer.dueAt, dueAt);
  return isLater && isAtOrBefore(timer.dueAt, now) ? null : { stepIndex: first.stepIndex, dueAt };
}

function heldUntil(plannedAt: Instant, holdMinutes: number, leaseUntil: Instant | null): Instant {
  if (leaseUntil === null || isAtOrBefore(leaseUntil, plannedAt)) return plannedAt;
  const latest = addMinutesSaturating(plannedAt, Math.min(Math.max(holdMinutes, 0), HOLD_MINUTES_MAX));
  return isAtOrBefore(leaseUntil, latest) ? leaseUntil : latest;
}

function firstOf(planned: readonly PlannedStep[]): PlannedStep | undefined {
  return planned.toSorted(
    (a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds || a.stepIndex - b.stepIndex,
  )[0];
}
