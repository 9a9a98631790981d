import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { settleIncident } from '#actions/incidents/settle_incident.ts';
import { IncidentView } from '#actions/incidents/view.ts';
import { acknowledge } from '#actions/incidents/settle.ts';

export const acknowledgeIncident = defineAction({
  name: 'acknowledge_incident',
  summary: 'Acknowledge an incident: escalation pauses and messages that have not left are cancelled.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: IncidentView,
  conflict: 'the incident is resolved already',
  async handle({ incidentId }, context) {
    return await settleIncident(incidentId, context, acknowledge);
  },
});
