import { type Static, Type } from 'typebox';

import { IdText, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { PushSubscriptionRow } from '#storage/postgres/push_subscription_store.ts';

/** The endpoint is a secret: neither the console nor the audit log gets it. */
export const SubscriptionView = Type.Object({ subscriptionId: IdText, label: Type.String(), createdAt: Timestamp });

export function toSubscriptionView({ id, label, createdAt }: PushSubscriptionRow): Static<typeof SubscriptionView> {
  return { subscriptionId: id, label, createdAt: toTimestamp(createdAt) };
}
