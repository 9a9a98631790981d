import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { escalate } from '#modules/incidents/escalate.ts';

export const escalateIncident = defineAction({
  name: 'escalate_incident',
  consoleOnly: true,
  summary: 'Fire a step of an escalation at once, before its time. A step that has fired already stays as it is.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      stepIndex: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'from 0: the step to fire now' }),
    },
    STRICT,
  ),
  result: IncidentView,
  conflict: 'the incident is acknowledged or resolved, or was reassigned',
  example: { incidentId: EXAMPLE_IDS.incidentId, stepIndex: 1 },
  async handle({ incidentId, stepIndex }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const isExpedited = await escalate(context, incident, toIncidentActor(caller.actor, caller.via), stepIndex);
    if (isExpedited) context.record({ target: incident.id, before: null, after: { firedStep: stepIndex } });
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});
