import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { ChannelName } from '#modules/policies/view.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import { NOTIFICATION_STATUSES } from '#modules/policies/decide/recipients.ts';
import { notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';

export const TestNotificationView = Type.Object({
  notificationId: IdText,
  channel: ChannelName,
  to: nullable(Type.String({ description: 'masked; null for push' })),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  reason: nullable(Type.String()),
  updatedAt: Timestamp,
});

/** Returns the outcome of a test notification of the caller. Throws `not_found`. */
export async function readTestNotification(
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
  notificationId: string,
): Promise<Static<typeof TestNotificationView>> {
  const notification = await stores.notifications.find(notificationId);
  const isOwn = notification?.userId === callerUser(caller) && notification.orgId === caller.orgId;
  if (notification?.kind !== 'test' || !isOwn) throw notFound('notificationId', 'test notification');
  return toView(notification);
}

function toView(entry: NotificationRow): Static<typeof TestNotificationView> {
  return {
    notificationId: entry.id,
    channel: entry.channel,
    to: maskAddress(entry.channel, entry.address),
    status: entry.status === 'sending' ? 'queued' : entry.status,
    reason: entry.reason,
    updatedAt: toTimestamp(entry.updatedAt),
  };
}
