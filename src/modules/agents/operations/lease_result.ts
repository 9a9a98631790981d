import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { LeaseView, toLeaseView } from '#modules/agents/operations/view.ts';
import { LEASE_MINUTES_DEFAULT, LEASE_MINUTES_MAX } from '#modules/agents/decide/lease.ts';
import type { HeldLease } from '#modules/agents/agent_lease.ts';
import { type Temporal, toTimestampOrNull } from '#kernel/time.ts';

export const LeaseMinutes = Type.Integer({
  minimum: 1,
  maximum: LEASE_MINUTES_MAX,
  description: `from now; ${LEASE_MINUTES_DEFAULT} when absent`,
});

export const LeaseResult = Type.Object({
  incidentId: IdText,
  lease: LeaseView,
  heldUntil: nullable(Timestamp),
});

export function toLeaseResult({ lease, heldUntil }: HeldLease, now: Temporal.Instant): Static<typeof LeaseResult> {
  return { incidentId: lease.incidentId, lease: toLeaseView(lease, now), heldUntil: toTimestampOrNull(heldUntil) };
}
