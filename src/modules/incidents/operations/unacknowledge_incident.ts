import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { changeStatus } from '#modules/incidents/change_status.ts';
import { IncidentView } from '#modules/incidents/view.ts';
import { unacknowledge } from '#modules/incidents/acknowledge.ts';

export const unacknowledgeIncident = defineAction({
  name: 'unacknowledge_incident',
  consoleOnly: true,
  summary: 'Undo the acknowledgement of an incident: it is triggered again, and its escalation continues.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: IncidentView,
  conflict: 'the incident is resolved',
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    return await changeStatus(incidentId, context, unacknowledge);
  },
});
