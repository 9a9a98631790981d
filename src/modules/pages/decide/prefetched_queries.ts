import {
  HOME_QUERIES,
  SERVICE_LIST_QUERIES,
  serviceQueries,
  serviceSettingsQueries,
} from '#modules/pages/decide/page_queries.ts';
import type { PAGES } from '#modules/pages/decide/pages.ts';

/** Operations that the incident list calls when it opens without a filter. */
const LIST_QUERIES = [{ action: 'search_incidents', input: { status: 'open' } }] as const;

/** Returns the operations that an incident's page calls when it opens. */
const incidentQueries = (incidentId: string) =>
  [
    { action: 'get_incident', input: { incidentId } },
    { action: 'get_agent_work', input: { incidentId } },
    { action: 'get_linked_incidents', input: { incidentId } },
  ] as const;

/** An operation that a page calls when it opens, and its input. */
export interface PrefetchedQuery {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Operations of the shell around each page. Pages that are not listed below, and filtered lists, call only these. */
export const SHELL_QUERIES: readonly PrefetchedQuery[] = [
  { action: 'get_paging_problems', input: {} },
  { action: 'count_incidents', input: {} },
];

/** Pages without the shell, which call no operations when they open. */
export const PAGES_WITHOUT_SHELL = ['signIn', 'askForReset', 'resetPassword', 'invitation', 'connect'] as const;

/** Service whose setup instructions are shown while no exception has arrived. */
const ONE_SERVICE: PrefetchedQuery = { action: 'search_services', input: { limit: 1 } };

/**
 * Operations for each page's initial view, with the same inputs as the console's queries. `id` is the one in the page's
 * address. The console itself fetches what takes long or depends on the viewer's time zone.
 */
export const PREFETCHED: Readonly<Partial<Record<keyof typeof PAGES, (id: string) => readonly PrefetchedQuery[]>>> = {
  home: () => [...SHELL_QUERIES, ...HOME_QUERIES],
  me: () => [...SHELL_QUERIES, { action: 'get_me', input: {} }],
  incidents: () => [...SHELL_QUERIES, ...LIST_QUERIES],
  incident: (id) => [...SHELL_QUERIES, ...incidentQueries(id)],
  onCall: () => [...SHELL_QUERIES, { action: 'get_paging_problems', input: { withoutGaps: true } }],
  teams: () => [
    ...SHELL_QUERIES,
    { action: 'search_people_without_team', input: {} },
    { action: 'search_teams', input: {} },
  ],
  policies: () => [...SHELL_QUERIES, { action: 'search_escalation_policies', input: {} }],
  exceptions: () => [
    ...SHELL_QUERIES,
    { action: 'browse_exception_groups', input: { status: 'unresolved' } },
    ONE_SERVICE,
  ],
  rules: () => [...SHELL_QUERIES, { action: 'search_rules', input: {} }],
  services: () => [...SHELL_QUERIES, ...SERVICE_LIST_QUERIES],
  service: (id) => [...SHELL_QUERIES, ...serviceQueries(id)],
  serviceSettings: (id) => [...SHELL_QUERIES, ...serviceSettingsQueries(id)],
  alertSources: (serviceId) => [
    ...SHELL_QUERIES,
    { action: 'get_service', input: { serviceId } },
    { action: 'list_alert_sources', input: { serviceId } },
  ],
  explore: () => [...SHELL_QUERIES, { action: 'find_service_with_metrics', input: {} }],
  dashboards: () => [...SHELL_QUERIES, { action: 'search_dashboards', input: {} }],
};
