import type { IncidentStatus } from '#core/incidents/incident.ts';
import { addMinutesSaturating, isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** A lease is renewed more often than this, or it is lost. */
export const LEASE_MINUTES_MAX = 15;
export const LEASE_MINUTES_DEFAULT = 5;

/** Incidents that one agent may hold at a time. */
export const LEASES_OF_ONE_MAX = 10;

/** That an agent works on an incident; one for each incident, the last that was taken. */
export interface Lease {
  readonly agentId: string;
  readonly expiresAt: Instant;
  readonly releasedAt: Instant | null;
}

/** `lost`: the agent has stopped to renew it. */
export type LeaseState = 'held' | 'released' | 'lost';

export function leaseStateOf({ expiresAt, releasedAt }: Lease, now: Instant): LeaseState {
  if (releasedAt !== null) return 'released';
  return isAtOrBefore(expiresAt, now) ? 'lost' : 'held';
}

export type LeaseDecision =
  | { readonly kind: 'grant'; readonly expiresAt: Instant }
  | { readonly kind: 'conflict'; readonly because: 'resolved' | 'held_by_another' | 'too_many' | 'not_held' };

/** Whether an agent gets the lease. Its own it may take again, which renews it. */
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

/** A lease that is lost is taken again, not renewed: meanwhile somebody else may have acted. */
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
