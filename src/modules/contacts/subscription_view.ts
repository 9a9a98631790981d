import { type Static, Type } from 'typebox';

import { IdText, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { PushSubscriptionRow } from '#modules/contacts/store/push_subscription_store.ts';

/** A push subscription without its endpoint, a secret that neither the console nor the audit log gets. */
export const SubscriptionView = Type.Object({ subscriptionId: IdText, label: Type.String(), createdAt: Timestamp });

export function toSubscriptionView({ id, label, createdAt }: PushSubscriptionRow): Static<typeof SubscriptionView> {
  return { subscriptionId: id, label, createdAt: toTimestamp(createdAt) };
}
