import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { IncidentView, toIncidentView } from '#actions/incidents/view.ts';
import { INCIDENT_STATUSES } from '#core/incidents/incident.ts';

export const listIncidents = defineAction({
  name: 'list_incidents',
  summary: 'List incidents, newest first, optionally of one service or status.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(
    { serviceId: Type.Optional(IdText), status: Type.Optional(Type.Enum([...INCIDENT_STATUSES])) },
    CLOSED,
  ),
  result: Type.Object({ incidents: Type.Array(IncidentView), total: Type.Integer() }),
  async handle(filter, { caller, stores, now }) {
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    const { incidents, total } = await stores.incidents.list(caller.orgId, filter, now, LIST_LIMIT);
    const steps = Map.groupBy(
      await stores.incidents.listSteps(incidents.map(({ id }) => id)),
      (step) => step.incidentId,
    );
    return { incidents: incidents.map((incident) => toIncidentView(incident, steps.get(incident.id) ?? [])), total };
  },
});
