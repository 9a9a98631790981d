import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';

export const PLACE_ROUTES_MAX = 50;

/** Incidents that a place is told of: all that is not null has to be true. */
export interface PlaceRoute {
  readonly serviceId: string | null;
  readonly teamId: string | null;
  readonly atLeast: string | null;
}

/** Facts about an incident that routes look at. */
interface RoutedIncident {
  readonly serviceId: string;
  readonly teamId: string | null;
  readonly severity: string;
}

/** Whether stored routes can be read, whoever wrote them. */
export function areRoutes(stored: unknown): stored is readonly PlaceRoute[] {
  return Array.isArray(stored) && stored.length <= PLACE_ROUTES_MAX && stored.every(isRoute);
}

function isRoute(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false;
  const { serviceId, teamId, atLeast } = stored as Record<string, unknown>;
  const areIds = [serviceId, teamId].every((id) => id === null || typeof id === 'string');
  return areIds && (atLeast === null || (LEVELS as readonly unknown[]).includes(atLeast));
}

export function takesIncident(routes: readonly PlaceRoute[], incident: RoutedIncident): boolean {
  return routes.some(
    ({ serviceId, teamId, atLeast }) =>
      (serviceId === null || serviceId === incident.serviceId) &&
      (teamId === null || teamId === incident.teamId) &&
      (atLeast === null || worseSeverity(incident.severity, atLeast) === incident.severity),
  );
}
