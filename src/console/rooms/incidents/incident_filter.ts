import type { Incident } from '#console/api/actions.ts';

export const INCIDENT_TABS = ['open', 'triggered', 'acknowledged', 'resolved', 'all'] as const;

export type IncidentTab = (typeof INCIDENT_TABS)[number];

/** What the address says of the list; whatever is absent is as by default. */
export interface IncidentFilter {
  readonly status?: IncidentTab;
  readonly service?: string;
  readonly q?: string;
}

export function readIncidentFilter(search: Record<string, unknown>): IncidentFilter {
  const { status, service, q } = search;
  const isTab = INCIDENT_TABS.some((tab) => tab === status && tab !== 'open');
  return {
    ...(isTab && { status: status as IncidentTab }),
    ...(typeof service === 'string' && service !== '' && { service }),
    ...((typeof q === 'number' || typeof q === 'string') && q !== '' && { q: String(q) }),
  };
}

export function isInTab({ status }: Incident, tab: IncidentTab): boolean {
  return tab === 'all' || (tab === 'open' ? status !== 'resolved' : status === tab);
}

/** Who waits for somebody first, then the newest. */
export function byUrgency(a: Incident, b: Incident): number {
  const rank = ({ status }: Incident) => ['triggered', 'acknowledged', 'resolved'].indexOf(status);
  return rank(a) - rank(b) || (a.triggeredAt < b.triggeredAt ? 1 : -1);
}
