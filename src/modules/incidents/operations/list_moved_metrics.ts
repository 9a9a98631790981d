import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { MOVED_FIELDS, readMovedMetrics } from '#modules/incidents/moved_metrics.ts';

export const listMovedMetrics = defineAction({
  name: 'list_moved_metrics',
  consoleOnly: true,
  summary:
    'List the metrics of the service that left their usual range around the time of an incident, furthest first.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: Type.Object(MOVED_FIELDS),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    return await readMovedMetrics(await stores.incidents.get(caller.orgId, incidentId, now), context);
  },
});
