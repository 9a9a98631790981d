import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { IncidentFilterFields, toIncidentFilter } from '#modules/incidents/operations/filter.ts';
import { StatusCountsView } from '#modules/incidents/view.ts';

export const countIncidents = defineAction({
  name: 'count_incidents',
  consoleOnly: true,
  summary: 'Count incidents by their status.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object(IncidentFilterFields, STRICT),
  result: StatusCountsView,
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    ruleId: EXAMPLE_IDS.ruleId,
    severity: 'error',
    ownedBy: EXAMPLE_IDS.teamId,
    text: 'latency',
  },
  async handle(filter, context) {
    const { caller, stores, now } = context;
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    if (filter.ruleId !== undefined) await stores.alertRules.get(caller.orgId, filter.ruleId);
    return await stores.incidentSearch.countByStatus(caller.orgId, await toIncidentFilter(filter, context), now);
  },
});

export const countIncidentsByService = defineAction({
  name: 'count_incidents_by_service',
  consoleOnly: true,
  summary: 'Count the open incidents of each service that has any.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    services: Type.Array(Type.Object({ serviceId: IdText, triggered: Type.Integer(), acknowledged: Type.Integer() })),
  }),
  example: {},
  async handle(_input, { caller, stores }) {
    return { services: await stores.incidentSearch.countOpenByService(caller.orgId) };
  },
});
