import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { settleIncident } from '#actions/incidents/settle_incident.ts';
import { IncidentView } from '#actions/incidents/view.ts';
import { resolve } from '#actions/incidents/settle.ts';

export const resolveIncident = defineAction({
  name: 'resolve_incident',
  summary: 'Resolve an incident: escalation ends. A new breach opens a new incident.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: IncidentView,
  async handle({ incidentId }, context) {
    return await settleIncident(incidentId, context, resolve);
  },
});
