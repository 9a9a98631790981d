import { exportIncidents } from '#modules/incidents/operations/export_incidents.ts';
import { setIncidentCommander, setIncidentSeverity } from '#modules/incidents/operations/incident_response.ts';

/** Operations of the response to incidents, and of looking back at it. */
export const RESPONSE_OPERATIONS = [setIncidentSeverity, setIncidentCommander, exportIncidents] as const;
