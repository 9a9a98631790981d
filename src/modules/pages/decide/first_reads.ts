import {
  HOME_READS,
  SERVICE_LIST_READS,
  serviceReads,
  serviceSettingsReads,
} from '#modules/pages/decide/page_reads.ts';
import type { PAGES } from '#modules/pages/decide/pages.ts';

/** Operations that the incident list calls when it opens without a filter. */
const LIST_READS = [{ action: 'search_incidents', input: { status: 'open' } }] as const;

/** Returns the operations that an incident's page calls when it opens. */
const incidentReads = (incidentId: string) =>
  [
    { action: 'get_incident', input: { incidentId } },
    { action: 'get_agent_work', input: { incidentId } },
    { action: 'get_linked_incidents', input: { incidentId } },
  ] as const;

/** An operation that a page calls when it opens, and its input. */
export interface FirstRead {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Operations of the shell around each page. Pages that are not listed below, and filtered lists, call only these. */
export const SHELL_READS: readonly FirstRead[] = [
  { action: 'get_paging_problems', input: {} },
  { action: 'count_incidents', input: {} },
];

/** Pages without the shell, which call no operations when they open. */
export const PAGES_WITHOUT_SHELL = ['signIn', 'askForReset', 'resetPassword', 'invitation', 'connect'] as const;

/** Service whose setup instructions are shown while no exception has arrived. */
const ONE_SERVICE: FirstRead = { action: 'search_services', input: { limit: 1 } };

/**
 * Operations for each page's initial view, with the same inputs as the console's queries. `id` is the one in the page's
 * address. The console itself fetches what takes long or depends on the viewer's time zone.
 */
export const PREFETCHED: Readonly<Partial<Record<keyof typeof PAGES, (id: string) => readonly FirstRead[]>>> = {
  home: () => [...SHELL_READS, ...HOME_READS],
  me: () => [...SHELL_READS, { action: 'get_me', input: {} }],
  incidents: () => [...SHELL_READS, ...LIST_READS],
  incident: (id) => [...SHELL_READS, ...incidentReads(id)],
  onCall: () => [...SHELL_READS, { action: 'get_paging_problems', input: { withoutGaps: true } }],
  teams: () => [
    ...SHELL_READS,
    { action: 'search_people_without_team', input: {} },
    { action: 'search_teams', input: {} },
  ],
  policies: () => [...SHELL_READS, { action: 'search_escalation_policies', input: {} }],
  exceptions: () => [
    ...SHELL_READS,
    { action: 'browse_exception_groups', input: { status: 'unresolved' } },
    ONE_SERVICE,
  ],
  rules: () => [...SHELL_READS, { action: 'search_rules', input: {} }],
  services: () => [...SHELL_READS, ...SERVICE_LIST_READS],
  service: (id) => [...SHELL_READS, ...serviceReads(id)],
  serviceSettings: (id) => [...SHELL_READS, ...serviceSettingsReads(id)],
  alertSources: (serviceId) => [
    ...SHELL_READS,
    { action: 'get_service', input: { serviceId } },
    { action: 'list_alert_sources', input: { serviceId } },
  ],
  explore: () => [...SHELL_READS, { action: 'find_service_with_metrics', input: {} }],
  dashboards: () => [...SHELL_READS, { action: 'search_dashboards', input: {} }],
};
