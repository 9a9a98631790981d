import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';

export const PLACE_EVENTS = [
  'triggered',
  'acknowledged',
  'unacknowledged',
  'escalated',
  'reassigned',
  'severity_raised',
  'resolved',
  'reopened',
  'note',
  'test',
] as const;

export type PlaceEvent = (typeof PLACE_EVENTS)[number];

const BY_TIMELINE_EVENT: Readonly<Record<string, PlaceEvent>> = {
  triggered: 'triggered',
  declared: 'triggered',
  maintenance_ended: 'triggered',
  pages_itself: 'triggered',
  acknowledged: 'acknowledged',
  unacknowledged: 'unacknowledged',
  step_fired: 'escalated',
  escalated: 'escalated',
  repaged: 'escalated',
  reassigned: 'reassigned',
  severity_raised: 'severity_raised',
  resolved: 'resolved',
  reopened: 'reopened',
};

/** Returns the event that an entry of a timeline is for places; null for one that they are not told of. */
export function placeEventOf(event: string, data: Readonly<Record<string, unknown>>): PlaceEvent | null {
  // The first step fires with the trigger.
  if (event === 'step_fired' && data['stepIndex'] === 0) return null;
  return BY_TIMELINE_EVENT[event] ?? null;
}

/** The vendor's ids of a message, by which it is changed. */
export type MessageReference = Readonly<Record<string, string>>;

/** An incident as places are told of it. Title and service name are what senders wrote. */
export interface PlaceIncident {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly service: { readonly id: string; readonly name: string };
  readonly severity: string;
  readonly status: IncidentStatus;
  readonly occurrences: number;
  readonly triggeredAt: string;
  readonly acknowledgedAt: string | null;
  /** Name and way of whoever acknowledged it. */
  readonly acknowledgedBy: string | null;
  readonly resolvedAt: string | null;
  readonly resolvedBy: string | null;
  /** The step that a press on Escalate fires; null when there is none. */
  readonly nextStep: number | null;
  readonly url: string;
}

interface PlaceNote {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  readonly at: string;
}

export type PlaceContent =
  | { readonly kind: 'incident'; readonly event: PlaceEvent; readonly incident: PlaceIncident }
  | { readonly kind: 'note'; readonly incident: PlaceIncident; readonly note: PlaceNote }
  | { readonly kind: 'test'; readonly organization: string };

/** State of an incident in words, such as "Acknowledged by Anna by Slack". */
export function stateText({ status, acknowledgedBy, resolvedBy }: PlaceIncident): string {
  switch (status) {
    case 'triggered':
      return 'Triggered: nobody has acknowledged it';
    case 'acknowledged':
      return `Acknowledged by ${acknowledgedBy ?? 'somebody'}`;
    case 'resolved':
      return `Resolved by ${resolvedBy ?? 'somebody'}`;
  }
}

/** Buttons of an incident. */
export const PRESSES = ['acknowledge', 'resolve', 'escalate'] as const;

export type Press = (typeof PRESSES)[number];

/** Returns the buttons that an incident has in its state. */
export function pressesOf({ status, nextStep }: Pick<PlaceIncident, 'status' | 'nextStep'>): readonly Press[] {
  switch (status) {
    case 'triggered':
      return nextStep === null ? ['acknowledge', 'resolve'] : PRESSES;
    case 'acknowledged':
      return ['resolve'];
    case 'resolved':
      return [];
  }
}

export const PRESS_LABELS: Readonly<Record<Press, string>> = {
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  escalate: 'Escalate',
};

/** Returns a text of at most so many characters; one that is longer ends in an ellipsis. */
export function cutText(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).toWellFormed()}…`;
}
