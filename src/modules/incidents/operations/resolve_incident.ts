import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { changeStatus } from '#modules/incidents/change_status.ts';
import { IncidentView, ACKNOWLEDGED_EXAMPLE, INCIDENT_UNTRUSTED_TEXT } from '#modules/incidents/view.ts';
import { resolve } from '#modules/incidents/resolve.ts';

export const resolveIncident = defineAction({
  name: 'resolve_incident',
  summary: 'Resolve an incident: escalation ends. A new breach opens a new incident.',
  guidance: 'Only when the cause is gone.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: IncidentView,
  untrustedText: INCIDENT_UNTRUSTED_TEXT,
  aliases: ['resolve', 'resolve_alert', 'close_alert'],
  example: { incidentId: IDS.incidentId },
  exampleResult: {
    ...ACKNOWLEDGED_EXAMPLE,
    status: 'resolved',
    resolvedAt: '2027-02-03T02:41:03.211Z',
    resolvedBy: { userId: IDS.userId, via: 'rest' },
    escalation: { state: 'finished', nextStep: null, nextStepAt: null, waitsFor: null, stepCount: 2 },
    updatedAt: '2027-02-03T02:41:03.211Z',
  },
  async handle({ incidentId }, context) {
    return await changeStatus(incidentId, context, resolve);
  },
});
