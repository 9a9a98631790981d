import { type Static, Type } from 'typebox';

import type { Installation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { isSimulatedId } from '#modules/contacts/decide/contact.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import { NEWS_EVENTS } from '#modules/incidents/decide/incident.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { NOTIFICATION_STATUSES } from '#modules/policies/decide/recipients.ts';

/** Entry of the notification log of an incident. */
export const NotificationView = Type.Object({
  notificationId: IdText,
  at: Timestamp,
  step: nullable(Type.Integer({ description: 'index of the step, from 0; null for news about the incident' })),
  userId: IdText,
  channel: Type.Enum([...CHANNELS]),
  to: nullable(Type.String({ description: 'masked; null for push' })),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  reason: nullable(
    Type.String({ description: 'why it failed, was skipped or cancelled, or what is special about it' }),
  ),
  news: nullable(Type.Enum([...NEWS_EVENTS], { description: 'what news about the incident says; null for a page' })),
  attempts: Type.Integer(),
  providerId: nullable(Type.String()),
  isSimulated: Type.Boolean({ description: 'whether it went to the phone simulator, and so to nobody' }),
  updatedAt: Timestamp,
});

export function toNotificationView(
  entry: NotificationRow,
  { simulatedIds }: Pick<Installation, 'simulatedIds'>,
): Static<typeof NotificationView> {
  return {
    notificationId: entry.id,
    at: toTimestamp(entry.createdAt),
    step: entry.stepIndex,
    userId: entry.userId,
    channel: entry.channel,
    to: maskAddress(entry.channel, entry.address),
    status: entry.status === 'sending' ? 'queued' : entry.status,
    reason: entry.reason,
    news: entry.news,
    attempts: entry.attempts,
    providerId: entry.providerId,
    isSimulated: isSimulatedId(entry.providerId, simulatedIds),
    updatedAt: toTimestamp(entry.updatedAt),
  };
}
