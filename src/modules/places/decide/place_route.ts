import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';

export const PLACE_ROUTES_MAX = 50;

/** Incidents that a place is told of: all that is not null has to be true. */
export interface PlaceRoute {
  readonly serviceId: string | null;
  readonly teamId: string | null;
  readonly atLeast: string | null;
}

/** Facts about an incident that routes look at. */
export interface RoutedIncident {
  readonly serviceId: string;
  readonly teamId: string | null;
  readonly severity: string;
}

/** Whether any route takes the incident. */
export function takesIncident(routes: readonly PlaceRoute[], incident: RoutedIncident): boolean {
  return routes.some(
    ({ serviceId, teamId, atLeast }) =>
      (serviceId === null || serviceId === incident.serviceId) &&
      (teamId === null || teamId === incident.teamId) &&
      (atLeast === null || worseSeverity(incident.severity, atLeast) === incident.severity),
  );
}
