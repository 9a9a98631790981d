import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';

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
