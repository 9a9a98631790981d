import type { ResultOf } from '#console/api/actions.ts';

export type Place = ResultOf<'list_places'>['places'][number];
export type PlaceDelivery = ResultOf<'list_place_deliveries'>['deliveries'][number];
type Route = Place['routes'][number];

/** Returns which incidents a route takes, with the names of what it names. */
export function routeText({ serviceId, teamId, atLeast }: Route, nameOf: (id: string) => string): string {
  const parts = [
    ...(serviceId === null ? [] : [`of ${nameOf(serviceId)}`]),
    ...(teamId === null ? [] : [`of the team ${nameOf(teamId)}`]),
    ...(atLeast === null ? [] : [`of severity ${atLeast} or worse`]),
  ];
  return parts.length === 0 ? 'All incidents' : `Incidents ${parts.join(', ')}`;
}

const EVENTS: Readonly<Record<PlaceDelivery['event'], string>> = {
  triggered: 'Triggered',
  acknowledged: 'Acknowledged',
  unacknowledged: 'No longer acknowledged',
  escalated: 'Escalated',
  reassigned: 'Handed over',
  severity_raised: 'More severe',
  resolved: 'Resolved',
  reopened: 'Reopened',
  note: 'Note',
  test: 'Test',
};

export function eventText(event: PlaceDelivery['event']): string {
  return EVENTS[event];
}

const STATUSES: Readonly<Record<PlaceDelivery['status'], string>> = {
  waiting: 'Waiting',
  sent: 'Sent',
  superseded: 'A later state was sent',
  dead: 'Not sent',
};

export function statusText(status: PlaceDelivery['status']): string {
  return STATUSES[status];
}
