import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { acknowledge, unacknowledge } from '#modules/incidents/acknowledge.ts';
import { changeStatus } from '#modules/incidents/change_status.ts';
import { ACKNOWLEDGED_EXAMPLE, INCIDENT_UNTRUSTED_TEXT, IncidentView } from '#modules/incidents/view.ts';

export const acknowledgeIncident = defineAction({
  name: 'acknowledge_incident',
  summary: 'Acknowledge an incident: escalation pauses and messages that have not left are cancelled.',
  guidance: 'Nobody else is paged from then on: only when somebody works on it.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: IncidentView,
  conflict: 'the incident is resolved already',
  conflictHint: 'Nothing needs to be done; list_incidents shows what is open.',
  untrustedText: INCIDENT_UNTRUSTED_TEXT,
  aliases: ['acknowledge', 'acknowledge_alert', 'ack_alert'],
  example: { incidentId: IDS.incidentId },
  exampleResult: ACKNOWLEDGED_EXAMPLE,
  async handle({ incidentId }, context) {
    return await changeStatus(incidentId, context, acknowledge);
  },
});

export const unacknowledgeIncident = defineOperation({
  name: 'unacknowledge_incident',
  summary: 'Undo the acknowledgement of an incident: it is triggered again, and its escalation continues.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: IncidentView,
  conflict: 'the incident is resolved',
  async handle({ incidentId }, context) {
    return await changeStatus(incidentId, context, unacknowledge);
  },
});
