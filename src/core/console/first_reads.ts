import { HOME_READS } from '#core/console/home_reads.ts';
import { incidentReads, LIST_READS } from '#core/console/incident_reads.ts';
import type { PAGES } from '#core/console/pages.ts';
import { SERVICE_LIST_READS, serviceReads } from '#core/console/service_reads.ts';

/** One operation that a page asks for when it is opened, and its input. */
export interface FirstRead {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What surrounds every page but these: all that some pages, and lists that are filtered, hold. */
export const AROUND: readonly FirstRead[] = [
  { action: 'get_paging_problems', input: {} },
  { action: 'count_incidents', input: {} },
];

export const ALONE = ['signIn', 'askForReset', 'resetPassword', 'invitation', 'connect'] as const;

/** Whoever has sent no exception yet sees how to set up this one. */
const ONE_SERVICE: FirstRead = { action: 'search_services', input: { limit: 1 } };

/**
 * What pages show first, in the words in which their queries ask for it. `id` is the one in their address. What takes long,
 * or depends on the viewer's time zone, is asked for by the console.
 */
export const FIRST_READS: Readonly<Partial<Record<keyof typeof PAGES, (id: string) => readonly FirstRead[]>>> = {
  home: () => [...AROUND, ...HOME_READS],
  me: () => [...AROUND, { action: 'get_me', input: {} }],
  incidents: () => [...AROUND, ...LIST_READS],
  incident: (id) => [...AROUND, ...incidentReads(id)],
  onCall: () => [...AROUND, { action: 'get_paging_problems', input: { withoutGaps: true } }],
  teams: () => [...AROUND, { action: 'search_people_without_team', input: {} }, { action: 'search_teams', input: {} }],
  policies: () => [...AROUND, { action: 'search_escalation_policies', input: {} }],
  exceptions: () => [...AROUND, { action: 'browse_exception_groups', input: { status: 'unresolved' } }, ONE_SERVICE],
  rules: () => [...AROUND, { action: 'search_rules', input: {} }],
  services: () => [...AROUND, ...SERVICE_LIST_READS],
  service: (id) => [...AROUND, ...serviceReads(id)],
  explore: () => [...AROUND, { action: 'search_services', input: { limit: 50 } }],
  dashboards: () => [...AROUND, { action: 'search_dashboards', input: {} }],
};
