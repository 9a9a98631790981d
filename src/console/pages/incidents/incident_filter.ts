import type { Incident, IncidentCounts } from '#console/api/actions.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';

export const INCIDENT_TABS = ['open', ...INCIDENT_STATUSES, 'all'] as const;

/** Severities, the most severe first. */
export const SEVERITIES: readonly Level[] = LEVELS.toReversed();

export type IncidentTab = (typeof INCIDENT_TABS)[number];

/** Filter of the list in an address. Absent parameters have their default. */
export interface IncidentFilter {
  readonly status?: IncidentTab;
  readonly service?: string;
  readonly severity?: Level;
  /** `my_teams`, or the id of a team that owns services. */
  readonly team?: string;
  readonly q?: string;
}

export function readIncidentFilter(search: Record<string, unknown>): IncidentFilter {
  const { status, service, severity: named, team, q } = search;
  const severity = SEVERITIES.find((severity) => severity === named);
  const isTab = INCIDENT_TABS.some((tab) => tab === status && tab !== 'open');
  return {
    ...(isTab && { status: status as IncidentTab }),
    ...(typeof service === 'string' && service !== '' && { service }),
    ...(severity !== undefined && { severity }),
    ...(typeof team === 'string' && team !== '' && { team }),
    ...((typeof q === 'number' || typeof q === 'string') && q !== '' && { q: String(q) }),
  };
}

export function isInTab({ status }: Pick<Incident, 'status'>, tab: IncidentTab): boolean {
  return tab === 'all' || (tab === 'open' ? status !== 'resolved' : status === tab);
}

export function countOfTab(
  { triggered, acknowledged, resolved }: IncidentCounts,
  tab: Exclude<IncidentTab, 'all'>,
): number {
  switch (tab) {
    case 'open':
      return triggered + acknowledged;
    case 'triggered':
      return triggered;
    case 'acknowledged':
      return acknowledged;
    case 'resolved':
      return resolved;
  }
}
