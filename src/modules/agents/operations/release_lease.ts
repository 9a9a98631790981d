import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { responderOf } from '#modules/agents/operations/view.ts';
import { releaseLease as release } from '#modules/agents/agent_lease.ts';

export const releaseLease = defineAction({
  name: 'release_lease',
  consoleOnly: true,
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Stop working on an incident. A first step that waited for you fires at once.',
  permission: 'oncall:view',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: Type.Object({
    incidentId: IdText,
    released: Type.Boolean({ description: 'false when you did not hold it' }),
  }),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const incident = await lockIncident(incidentId, context);
    const released = await release(context, incident, responderOf(context.caller), 'released');
    if (released) context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'released' } });
    return { incidentId: incident.id, released };
  },
});
