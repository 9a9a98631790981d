import type { Actor } from '#kernel/caller.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import type { Temporal } from '#kernel/time.ts';

export const INCIDENT_STATUSES = ['triggered', 'acknowledged', 'resolved'] as const;

export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Status of an incident that somebody has answered, or whose cause is gone. */
export type AnsweredStatus = Exclude<IncidentStatus, 'triggered'>;

/**
 * Status updates to people who were paged; `reopened` goes to those who got the update that was undone, `proposed` when
 * an agent asks them something.
 */
export const NEWS_EVENTS = ['acknowledged', 'resolved', 'reopened', 'proposed'] as const;

export type NewsEvent = (typeof NEWS_EVENTS)[number];

/** Reasons of the product itself to resolve an incident, other than a false condition or a resolved exception. */
export const SYSTEM_REASONS = ['no_data', 'no_word', 'shadow_ended'] as const;

type SystemReason = (typeof SYSTEM_REASONS)[number];

/** The name of the API key or connected app at that time; absent when none was used. */
interface Through {
  readonly apiKeyName?: string;
  readonly clientName?: string;
  /** Set when the person answered on the page that the link of an SMS opens, rather than by a reply. */
  readonly byLink?: true;
}

/** The person, key or system that acknowledged or resolved an incident, as it is stored and as its view shows it. */
export type IncidentActor =
  | ({ readonly userId: string; readonly via: Via } & Through)
  | ({ readonly apiKeyId: string; readonly via: Via } & Through)
  | {
      readonly system: true;
      readonly via: Via;
      readonly because?: SystemReason;
      /** The tool whose alert said so. */
      readonly tool?: string;
    };

export function toIncidentActor(actor: Actor, via: Via): IncidentActor {
  switch (actor.kind) {
    case 'user':
      return {
        userId: actor.userId,
        via,
        ...(actor.apiKeyName !== undefined && { apiKeyName: actor.apiKeyName }),
        ...(actor.connection && { clientName: actor.connection.clientName }),
        ...(actor.byLink && { byLink: actor.byLink }),
      };
    case 'api_key':
      return { apiKeyId: actor.apiKeyId, via, ...(actor.apiKeyName !== undefined && { apiKeyName: actor.apiKeyName }) };
    case 'system':
      return { system: true, via };
  }
}

/** Effect of a request to acknowledge, unacknowledge or resolve on an incident of some status. */
export type StatusDecision = 'change' | 'unchanged' | 'conflict';

export function decideAcknowledge(status: IncidentStatus): StatusDecision {
  switch (status) {
    case 'triggered':
      return 'change';
    case 'acknowledged':
      return 'unchanged';
    case 'resolved':
      return 'conflict';
  }
}

export function decideResolve(status: IncidentStatus): StatusDecision {
  switch (status) {
    case 'triggered':
    case 'acknowledged':
      return 'change';
    case 'resolved':
      return 'unchanged';
  }
}

/** Outcome of undoing a resolution, which gives the incident the status that it had before. */
export type ReopenDecision =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'too_late' }
  | { readonly kind: 'reopen'; readonly to: OpenStatus };

/** Days after which an incident is no longer reopened: those who were paged have moved on, and so has the policy. */
export const REOPEN_DAYS_MAX = 7;

type OpenStatus = Exclude<IncidentStatus, 'resolved'>;

export function decideReopen(
  incident: {
    readonly status: IncidentStatus;
    readonly acknowledgedAt: object | null;
    readonly resolvedAt: Temporal.Instant | null;
  },
  now: Temporal.Instant,
): ReopenDecision {
  switch (incident.status) {
    case 'triggered':
    case 'acknowledged':
      return { kind: 'unchanged' };
    case 'resolved': {
      const since = incident.resolvedAt?.epochMilliseconds ?? now.epochMilliseconds;
      if (now.epochMilliseconds - since > REOPEN_DAYS_MAX * DAY_MS) return { kind: 'too_late' };
      return { kind: 'reopen', to: incident.acknowledgedAt === null ? 'triggered' : 'acknowledged' };
    }
  }
}

const DAY_MS = 24 * 60 * 60_000;

export function decideUnacknowledge(status: IncidentStatus): StatusDecision {
  switch (status) {
    case 'triggered':
      return 'unchanged';
    case 'acknowledged':
      return 'change';
    case 'resolved':
      return 'conflict';
  }
}
