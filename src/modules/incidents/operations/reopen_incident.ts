import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { changeStatus } from '#modules/incidents/change_status.ts';
import { IncidentView } from '#modules/incidents/view.ts';
import { lockCause, reopen } from '#modules/incidents/reopen.ts';

export const reopenIncident = defineAction({
  name: 'reopen_incident',
  consoleOnly: true,
  summary:
    'Undo that an incident was resolved: it is acknowledged again if it was before; otherwise its escalation continues. ' +
    'Notices of the resolution that were not sent yet are cancelled, and everyone who received one is told that it is open again.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: IncidentView,
  conflict: 'its cause has opened a new incident meanwhile, or its exception group is resolved or ignored',
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { stores, caller, now } = context;
    await lockCause(context, await stores.incidents.get(caller.orgId, incidentId, now));
    return await changeStatus(incidentId, context, reopen);
  },
});
