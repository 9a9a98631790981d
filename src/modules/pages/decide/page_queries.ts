/** Number of services on a page of the service list. */
export const SERVICES_PAGE = 100;

export const RELEASES_PAGE = 10;

/** Number of open incidents, and of exceptions in each order, that a service's page shows. */
export const SERVICE_INCIDENTS = 5;
export const SERVICE_GROUPS = 5;

/** Operations that the service list calls when it opens. */
export const SERVICE_LIST_QUERIES = [
  { action: 'search_services', input: { limit: SERVICES_PAGE } },
  { action: 'count_incidents_by_service', input: {} },
] as const;

/**
 * Returns the operations that a service's page calls when it opens. Its hourly ingest counts take longer and are
 * fetched later.
 */
export const serviceQueries = (serviceId: string) =>
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
export const serviceSettingsQueries = (serviceId: string) =>
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
export const HOME_QUERIES = [
  { action: 'get_home', input: {} },
  { action: 'search_incidents', input: MY_INCIDENTS },
  { action: 'search_incidents', input: LAST_RESOLVED },
] as const;
