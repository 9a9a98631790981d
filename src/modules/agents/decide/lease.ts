import { addMinutesSaturating, isAtOrBefore, type Temporal } from '#kernel/time.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { StepTimerRow } from '#modules/incidents/decide/escalation_state.ts';
import type { PlannedStep } from '#modules/policies/decide/escalation.ts';

type Instant = Temporal.Instant;

/** Longest lease, in minutes, unless it is renewed. */
export const LEASE_MINUTES_MAX = 15;
export const LEASE_MINUTES_DEFAULT = 5;

/** Limit on the incidents that one agent holds at a time. */
const LEASES_OF_ONE_MAX = 10;

/** A lease of an agent on an incident; one for each incident, the last that was taken. */
export interface Lease {
  readonly agentId: string;
  readonly expiresAt: Instant;
  readonly releasedAt: Instant | null;
}

/** State of a lease. `lost`: the agent has stopped renewing it. */
type LeaseState = 'held' | 'released' | 'lost';

export function leaseStateOf({ expiresAt, releasedAt }: Lease, now: Instant): LeaseState {
  if (releasedAt !== null) return 'released';
  return isAtOrBefore(expiresAt, now) ? 'lost' : 'held';
}

export type LeaseDecision =
  | { readonly kind: 'grant'; readonly expiresAt: Instant }
  | { readonly kind: 'conflict'; readonly because: 'resolved' | 'held_by_another' | 'too_many' | 'not_held' };

/** Decides whether an agent gets the lease. Its own it may take again, which renews it. */
export function decideTake(
  asked: {
    readonly status: IncidentStatus;
    readonly lease: Lease | null;
    readonly agentId: string;
    readonly minutes: number;
    /** Leases on other incidents that this agent holds. */
    readonly othersHeld: number;
  },
  now: Instant,
): LeaseDecision {
  const { status, lease, agentId, minutes, othersHeld } = asked;
  if (status === 'resolved') return { kind: 'conflict', because: 'resolved' };
  const isHeld = lease !== null && leaseStateOf(lease, now) === 'held';
  if (isHeld && lease.agentId !== agentId) return { kind: 'conflict', because: 'held_by_another' };
  if (othersHeld >= LEASES_OF_ONE_MAX) return { kind: 'conflict', because: 'too_many' };
  return { kind: 'grant', expiresAt: addMinutesSaturating(now, minutes) };
}

/** Decides whether an agent may renew. A lost lease is taken again, not renewed: somebody else may have acted since. */
export function decideRenew(
  asked: {
    readonly status: IncidentStatus;
    readonly lease: Lease | null;
    readonly agentId: string;
    readonly minutes: number;
  },
  now: Instant,
): LeaseDecision {
  const { status, lease, agentId, minutes } = asked;
  if (status === 'resolved') return { kind: 'conflict', because: 'resolved' };
  if (lease?.agentId !== agentId || leaseStateOf(lease, now) !== 'held')
    return { kind: 'conflict', because: 'not_held' };
  return { kind: 'grant', expiresAt: addMinutesSaturating(now, minutes) };
}

/** Limit on the minutes for which an organization lets an agent hold the first step. */
export const HOLD_MINUTES_MAX = 10;

/** Facts on which the time of the first step depends. */
interface HoldState {
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
