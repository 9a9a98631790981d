/** What the list of incidents asks for when it is opened without a filter. */
export const LIST_READS = [{ action: 'search_incidents', input: { status: 'open' } }] as const;

/** What the page of an incident asks for when it is opened. */
export const incidentReads = (incidentId: string) =>
  [
    { action: 'get_incident', input: { incidentId } },
    { action: 'get_agent_work', input: { incidentId } },
    { action: 'get_incident_links', input: { incidentId } },
  ] as const;
