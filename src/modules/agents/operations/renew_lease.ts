import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { LeaseMinutes, LeaseResult, toLeaseResult } from '#modules/agents/operations/lease_result.ts';
import { responderOf } from '#modules/agents/operations/view.ts';
import { LEASE_MINUTES_DEFAULT } from '#modules/agents/decide/lease.ts';
import { renewLease as renew } from '#modules/agents/agent_lease.ts';

export const renewLease = defineAction({
  name: 'renew_lease',
  consoleOnly: true,
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Extend a lease that you hold. It then ends this many minutes from now.',
  permission: 'oncall:view',
  effect: 'write',
  input: Type.Object({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }, STRICT),
  result: LeaseResult,
  conflict: 'you do not hold it any more',
  example: { incidentId: EXAMPLE_IDS.incidentId, minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const renewed = await renew(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'renewed', minutes } });
    return toLeaseResult(renewed, context.now);
  },
});
