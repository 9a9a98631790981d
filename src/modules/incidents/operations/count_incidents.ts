import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT } from '#actions/fields.ts';
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
