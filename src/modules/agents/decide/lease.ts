import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { addMinutesSaturating, isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** Longest lease, in minutes, unless it is renewed. */
export const LEASE_MINUTES_MAX = 15;
export const LEASE_MINUTES_DEFAULT = 5;

/** Limit on the incidents that one agent holds at a time. */
export const LEASES_OF_ONE_MAX = 10;

/** A lease of an agent on an incident; one for each incident, the last that was taken. */
export interface Lease {
  readonly agentId: string;
  readonly expiresAt: Instant;
  readonly releasedAt: Instant | null;
}

/** State of a lease. `lost`: the agent has stopped renewing it. */
export type LeaseState = 'held' | 'released' | 'lost';

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
