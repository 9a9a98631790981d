import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import {
  IncidentView,
  StatusCountsView,
  toIncidentView,
  INCIDENT_EXAMPLE,
  INCIDENT_UNTRUSTED_TEXT,
} from '#actions/incidents/view.ts';
import { INCIDENT_STATUSES } from '#core/incidents/incident.ts';

export const listIncidents = defineAction({
  name: 'list_incidents',
  summary:
    'List incidents, newest first, optionally of one service or status. At most 1,000 are returned: `counts` tells how ' +
    'many there are of each status, and older open ones are found by their status.',
  guidance:
    'Use it to see what is wrong now, with status triggered or acknowledged: of all, only the newest 1,000 are returned. The source of incidentIds.',
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
  showsIds: ['incident'],
  untrustedText: INCIDENT_UNTRUSTED_TEXT.map((field) => `incidents[].${field}`),
  example: { serviceId: IDS.serviceId, status: 'triggered' },
  exampleResult: { incidents: [INCIDENT_EXAMPLE], total: 1, counts: { triggered: 1, acknowledged: 0, resolved: 12 } },
  async handle({ serviceId, status }, { caller, stores, now }) {
    if (serviceId !== undefined) await stores.services.get(caller.orgId, serviceId);
    const [incidents, counts] = await Promise.all([
      stores.incidents.list(caller.orgId, { serviceId, status }, now, LIST_LIMIT),
      stores.incidentSearch.countByStatus(caller.orgId, { serviceId }, now),
    ]);
    const steps = Map.groupBy(
      await stores.stepTimers.listSteps(incidents.map(({ id }) => id)),
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
