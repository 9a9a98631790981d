/** Events of which places are told. */
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
