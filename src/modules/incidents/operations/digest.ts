import type { Static } from 'typebox';

import type { IncidentView, IncidentWithLogView } from '#modules/incidents/view.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';

type Incident = Static<typeof IncidentView> & { readonly ruleName?: string | null };

/** Number of log entries that are shown; the newest ones say most. */
const LOG_SHOWN = 20;

const ALERTS_TOLD = 10;

/** Unanswered ones first, then acknowledged ones; the newest of each first. */
export function mostUrgentIncidents(incidents: readonly Incident[]) {
  return INCIDENT_STATUSES.flatMap((status) => incidents.filter((incident) => incident.status === status)).map(
    ({ incidentId, number, status, severity, title, serviceId, ruleName, occurrences, triggeredAt, escalation }) => ({
      incidentId,
      number,
      status,
      ...(severity === 'error' ? {} : { severity }),
      title,
      serviceId,
      ...(ruleName == null ? {} : { ruleName }),
      ...(occurrences === 1 ? {} : { occurrences }),
      triggeredAt,
      ...(escalation.nextStepAt === null ? {} : { nextPageAt: escalation.nextStepAt }),
    }),
  );
}

/** Returns the evidence before the log, of which the newest entries are shown, with how many came before them. */
export function digestOfIncident(result: Static<typeof IncidentWithLogView>): object {
  const { evidence, escalation, notes, timeline, notifications, members, alerts, ...incident } = result;
  const earlier = Object.entries({ notes, timeline, notifications }).filter(([, log]) => log.length > LOG_SHOWN);
  const leftOut = Object.fromEntries(earlier.map(([name, log]) => [name, log.length - LOG_SHOWN]));
  return {
    ...incident,
    evidence,
    escalation,
    ...(earlier.length > 0 && { earlierLeftOut: leftOut }),
    notes: notes.slice(-LOG_SHOWN),
    timeline: timeline.slice(-LOG_SHOWN),
    notifications: notifications.slice(-LOG_SHOWN).map(({ at, step, userId, channel, to, status, reason }) => {
      return { at, step, userId, channel, to, status, reason };
    }),
    members,
    ...(alerts.length > 0 && { alerts: alerts.slice(0, ALERTS_TOLD).map(shortAlert) }),
  };
}

/** The details of the first one stand in the incident. */
function shortAlert({
  alertId,
  tool,
  key,
  status,
  severity,
  title,
  lastSeenAt,
}: Static<typeof IncidentWithLogView>['alerts'][number]) {
  return { alertId, tool, key, status, severity, title, lastSeenAt };
}
