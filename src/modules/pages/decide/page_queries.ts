import type { PAGES } from './pages.ts';

/** Number of services on a page of the service list. */
export const SERVICES_PAGE = 100;

export const RELEASES_PAGE = 10;

/** Number of open incidents, and of exceptions in each order, that a service's page shows. */
export const SERVICE_INCIDENTS = 5;
export const SERVICE_GROUPS = 5;

/** Operations that the service list calls when it opens. */
const SERVICE_LIST_QUERIES = [
  { action: 'search_services', input: { limit: SERVICES_PAGE } },
  { action: 'count_incidents_by_service', input: {} },
] as const;

/**
 * Returns the operations that a service's page calls when it opens. Its hourly ingest counts take longer and are
 * fetched later.
 */
const serviceQueries = (serviceId: string) =>
  [
    { action: 'get_service', input: { serviceId } },
    { action: 'list_maintenance', input: { serviceId } },
    { action: 'count_incidents_by_service', input: {} },
    { action: 'get_ingest_status', input: { serviceId } },
    { action: 'search_incidents', input: { serviceId, status: 'open', limit: SERVICE_INCIDENTS } },
    { action: 'get_service_on_call', input: { serviceId } },
    { action: 'list_monitors', input: { serviceId } },
    { action: 'list_release_health', input: { serviceId } },
    { action: 'list_feedback', input: { serviceId } },
    { action: 'list_releases', input: { serviceId, search: '', offset: 0, limit: RELEASES_PAGE } },
  ] as const;

/** Operations that the settings of a service call when they open. */
const serviceSettingsQueries = (serviceId: string) =>
  [
    { action: 'get_service', input: { serviceId } },
    { action: 'get_exception_settings', input: { serviceId } },
  ] as const;

/** Number of the viewer's open incidents that the home page shows. */
export const MY_INCIDENTS_SHOWN_MAX = 8;

/** Query with one row more than is shown, which tells whether there are more. */
export const MY_INCIDENTS = { status: 'open', isMine: true, limit: MY_INCIDENTS_SHOWN_MAX + 1 } as const;

export const LAST_RESOLVED = { status: 'resolved', limit: 1 } as const;

/** Operations that the home page calls when it opens. */
const HOME_QUERIES = [
  { action: 'get_home', input: {} },
  { action: 'search_incidents', input: MY_INCIDENTS },
  { action: 'search_incidents', input: LAST_RESOLVED },
] as const;

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
