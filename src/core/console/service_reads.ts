/** How many services a page of their list has. */
export const SERVICES_PAGE = 100;

/** How many releases a page of the list has. */
export const RELEASES_PAGE = 10;

/** What the list of services asks for when it is opened. */
export const SERVICE_LIST_READS = [
  { action: 'search_services', input: { limit: SERVICES_PAGE } },
  { action: 'count_incidents_by_service', input: {} },
] as const;

/** What the page of a service asks for when it is opened. What it sent in each hour takes longer, and comes later. */
export const serviceReads = (serviceId: string) =>
  [
    { action: 'get_service', input: { serviceId } },
    { action: 'list_maintenance', input: { serviceId } },
    { action: 'count_incidents_by_service', input: {} },
    { action: 'get_ingest_status', input: { serviceId } },
    { action: 'list_monitors', input: { serviceId } },
    { action: 'list_release_health', input: { serviceId } },
    { action: 'list_feedback', input: { serviceId } },
    { action: 'get_exception_settings', input: { serviceId } },
    { action: 'list_releases', input: { serviceId, search: '', offset: 0, limit: RELEASES_PAGE } },
  ] as const;
