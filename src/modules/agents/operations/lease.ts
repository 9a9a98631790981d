import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { type Temporal, toTimestampOrNull } from '#kernel/time.ts';
import {
  type HeldLease,
  releaseLease as release,
  renewLease as renew,
  takeLease as take,
} from '#modules/agents/agent_lease.ts';
import { LEASE_MINUTES_DEFAULT, LEASE_MINUTES_MAX } from '#modules/agents/decide/lease.ts';
import { LeaseView, responderOf, toLeaseView } from '#modules/agents/operations/view.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';

const LeaseMinutes = Type.Integer({
  minimum: 1,
  maximum: LEASE_MINUTES_MAX,
  description: `from now; ${LEASE_MINUTES_DEFAULT} when absent`,
});

const LeaseResult = Type.Object({ incidentId: IdText, lease: LeaseView, heldUntil: nullable(Timestamp) });

function toLeaseResult({ lease, heldUntil }: HeldLease, now: Temporal.Instant): Static<typeof LeaseResult> {
  return { incidentId: lease.incidentId, lease: toLeaseView(lease, now), heldUntil: toTimestampOrNull(heldUntil) };
}

export const takeLease = defineOperation({
  name: 'take_lease',
  isForResponders: true,
  summary:
    'Show people that you work on an incident. Renew it before it expires, or it is lost. The escalation goes on; heldUntil tells when the first step waits for you.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }),
  result: LeaseResult,
  conflict: 'another agent holds it, the incident is resolved, or you hold ten leases already',
  example: { minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const taken = await take(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: null, after: { lease: 'held', minutes } });
    return toLeaseResult(taken, context.now);
  },
});

export const renewLease = defineOperation({
  name: 'renew_lease',
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Extend a lease that you hold. It then ends this many minutes from now.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }),
  result: LeaseResult,
  conflict: 'you do not hold it any more',
  example: { minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const renewed = await renew(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'renewed', minutes } });
    return toLeaseResult(renewed, context.now);
  },
});

export const releaseLease = defineOperation({
  name: 'release_lease',
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Stop working on an incident. A first step that waited for you fires at once.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object({
    incidentId: IdText,
    released: Type.Boolean({ description: 'false when you did not hold it' }),
  }),
  async handle({ incidentId }, context) {
    const incident = await lockIncident(incidentId, context);
    const released = await release(context, incident, responderOf(context.caller), 'released');
    if (released) context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'released' } });
    return { incidentId: incident.id, released };
  },
});
