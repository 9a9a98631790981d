/** Operations that the incident list calls when it opens without a filter. */
export const LIST_READS = [{ action: 'search_incidents', input: { status: 'open' } }] as const;

/** Returns the operations that an incident's page calls when it opens. */
export const incidentReads = (incidentId: string) =>
  [
    { action: 'get_incident', input: { incidentId } },
    { action: 'get_agent_work', input: { incidentId } },
    { action: 'get_incident_links', input: { incidentId } },
  ] as const;
