import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { unacknowledge } from '#actions/incidents/reopen.ts';
import { settleIncident } from '#actions/incidents/settle_incident.ts';
import { IncidentView } from '#actions/incidents/view.ts';

export const unacknowledgeIncident = defineAction({
  name: 'unacknowledge_incident',
  consoleOnly: true,
  summary: 'Take back that an incident was acknowledged: it waits for somebody again, and its escalation goes on.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: IncidentView,
  conflict: 'the incident is resolved',
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    return await settleIncident(incidentId, context, unacknowledge);
  },
});
