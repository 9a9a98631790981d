import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { IncidentView, StatusCountsView, toIncidentView } from '#actions/incidents/view.ts';
import { INCIDENT_STATUSES } from '#core/incidents/incident.ts';

export const listIncidents = defineAction({
  name: 'list_incidents',
  summary:
    'List incidents, newest first, optionally of one service or status. At most 1,000 are returned: `counts` tells how ' +
    'many there are of each status, and older open ones are found by their status.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    { serviceId: Type.Optional(IdText), status: Type.Optional(Type.Enum([...INCIDENT_STATUSES])) },
    CLOSED,
  ),
  result: Type.Object({
    incidents: Type.Array(IncidentView),
    total: Type.Integer({ description: 'how many there are of the service and status asked for, also beyond the cut' }),
    counts: StatusCountsView,
  }),
  async handle({ serviceId, status }, { caller, stores, now }) {
    if (serviceId !== undefined) await stores.services.get(caller.orgId, serviceId);
    const [incidents, counts] = await Promise.all([
      stores.incidents.list(caller.orgId, { serviceId, status }, now, LIST_LIMIT),
      stores.incidentSearch.countByStatus(caller.orgId, { serviceId }, now),
    ]);
    const steps = Map.groupBy(
      await stores.incidents.listSteps(incidents.map(({ id }) => id)),
      (step) => step.incidentId,
    );
    const { triggered, acknowledged, resolved } = counts;
    return {
      incidents: incidents.map((incident) => toIncidentView(incident, steps.get(incident.id) ?? [])),
      total: status === undefined ? triggered + acknowledged + resolved : counts[status],
      counts,
    };
  },
});
