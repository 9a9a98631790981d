import { exportIncidents } from '#modules/incidents/operations/export_incidents.ts';
import { setIncidentCommander } from '#modules/incidents/operations/set_incident_commander.ts';
import { setIncidentSeverity } from '#modules/incidents/operations/set_incident_severity.ts';

/** Operations of the response to incidents, and of looking back at it. */
export const RESPONSE_OPERATIONS = [setIncidentSeverity, setIncidentCommander, exportIncidents] as const;
