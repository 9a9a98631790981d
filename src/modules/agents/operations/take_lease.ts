import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { LeaseMinutes, LeaseResult, toLeaseResult } from '#modules/agents/operations/lease_result.ts';
import { responderOf } from '#modules/agents/operations/view.ts';
import { LEASE_MINUTES_DEFAULT } from '#modules/agents/decide/lease.ts';
import { takeLease as take } from '#modules/agents/agent_lease.ts';

export const takeLease = defineAction({
  name: 'take_lease',
  consoleOnly: true,
  isForResponders: true,
  summary:
    'Show people that you work on an incident. Renew it before it expires, or it is lost. The escalation goes on; heldUntil tells when the first step waits for you.',
  permission: 'oncall:view',
  effect: 'write',
  input: Type.Object({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }, STRICT),
  result: LeaseResult,
  conflict: 'another agent holds it, the incident is resolved, or you hold ten leases already',
  example: { incidentId: EXAMPLE_IDS.incidentId, minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const taken = await take(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: null, after: { lease: 'held', minutes } });
    return toLeaseResult(taken, context.now);
  },
});
