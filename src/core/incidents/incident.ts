import type { Actor, Via } from '#kernel/caller.ts';

export const INCIDENT_STATUSES = ['triggered', 'acknowledged', 'resolved'] as const;

export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Somebody has taken care of it. */
export type SettledStatus = Exclude<IncidentStatus, 'triggered'>;

/** What people who were paged are told; those who were told that it is settled also when that was taken back. */
export const NEWS_EVENTS = ['acknowledged', 'resolved', 'reopened'] as const;

export type NewsEvent = (typeof NEWS_EVENTS)[number];

/** What an API key or a connected app was called when it acted; absent when there was none in between. */
interface Through {
  readonly apiKeyName?: string;
  readonly clientName?: string;
}

/** Who settled an incident, as its view shows it. */
export type SettledBy =
  | ({ readonly userId: string; readonly via: Via } & Through)
  | ({ readonly apiKeyId: string; readonly via: Via } & Through)
  | { readonly system: true; readonly via: Via };

export function settledBy(actor: Actor, via: Via): SettledBy {
  switch (actor.kind) {
    case 'user':
      return {
        userId: actor.userId,
        via,
        ...(actor.apiKeyName !== undefined && { apiKeyName: actor.apiKeyName }),
        ...(actor.connection && { clientName: actor.connection.clientName }),
      };
    case 'api_key':
      return {
        apiKeyId: actor.apiKeyId,
        via,
        ...(actor.apiKeyName !== undefined && { apiKeyName: actor.apiKeyName }),
      };
    case 'system':
      return { system: true, via };
  }
}

/** What a request to settle does to an incident of this status (decisions §7). */
export type SettleDecision = 'settle' | 'unchanged' | 'conflict';

export function decideAcknowledge(status: IncidentStatus): SettleDecision {
  switch (status) {
    case 'triggered':
      return 'settle';
    case 'acknowledged':
      return 'unchanged';
    case 'resolved':
      return 'conflict';
  }
}

export function decideResolve(status: IncidentStatus): SettleDecision {
  return status === 'resolved' ? 'unchanged' : 'settle';
}

/** What taking back that an incident was resolved makes of it: what it was before. */
export type ReopenDecision = { readonly kind: 'unchanged' } | { readonly kind: 'reopen'; readonly to: OpenStatus };

type OpenStatus = Exclude<IncidentStatus, 'resolved'>;

export function decideReopen(incident: {
  readonly status: IncidentStatus;
  readonly acknowledgedAt: object | null;
}): ReopenDecision {
  if (incident.status !== 'resolved') return { kind: 'unchanged' };
  return { kind: 'reopen', to: incident.acknowledgedAt === null ? 'triggered' : 'acknowledged' };
}

/** What taking back an acknowledgement does to an incident of this status. */
export function decideUnacknowledge(status: IncidentStatus): SettleDecision {
  switch (status) {
    case 'triggered':
      return 'unchanged';
    case 'acknowledged':
      return 'settle';
    case 'resolved':
      return 'conflict';
  }
}
