import type { Static } from 'typebox';

import type { IncidentView, IncidentWithLogView } from '#actions/incidents/view.ts';
import { INCIDENT_STATUSES } from '#core/incidents/incident.ts';

type Incident = Static<typeof IncidentView> & { readonly ruleName?: string | null };

/** Of the log of one incident, what came last says most. */
const LOG_SHOWN = 30;

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

/** The evidence before the log. */
export function digestOfIncident(result: Static<typeof IncidentWithLogView>): object {
  const { evidence, escalation, notes, timeline, notifications, members, ...incident } = result;
  return {
    ...incident,
    evidence,
    escalation,
    notes,
    timeline: timeline.slice(-LOG_SHOWN),
    notifications: notifications.slice(-LOG_SHOWN).map(({ at, step, userId, channel, to, status, reason }) => {
      return { at, step, userId, channel, to, status, reason };
    }),
    members,
  };
}
