import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { recordOf } from '#kernel/records.ts';
import { toTimestamp } from '#kernel/time.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import type { Preferences } from '#modules/contacts/decide/contact.ts';
import type { PushSubscriptionRow } from '#modules/contacts/store/push_subscription_store.ts';
import { CHANNEL_SWITCHES_VIEW } from '#modules/teams/view.ts';

/** Settings by which a team reaches somebody. */
export const ContactView = Type.Object({
  phone: nullable(Type.String({ description: 'E.164' })),
  ...CHANNEL_SWITCHES_VIEW,
});

export function toContactView(contact: Preferences) {
  return { phone: contact.phone, ...recordOf(CHANNEL_PREFERENCES, (preference) => contact[preference]) };
}

/** A push subscription without its endpoint, a secret that neither the console nor the audit log gets. */
export const SubscriptionView = Type.Object({ subscriptionId: IdText, label: Type.String(), createdAt: Timestamp });

export function toSubscriptionView({ id, label, createdAt }: PushSubscriptionRow): Static<typeof SubscriptionView> {
  return { subscriptionId: id, label, createdAt: toTimestamp(createdAt) };
}
