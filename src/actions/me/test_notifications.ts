import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { callerUser } from '#actions/me/caller_user.ts';
import { ChannelName } from '#actions/policies/view.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Channel } from '#core/oncall/channel.ts';
import { maskAddress } from '#core/oncall/masking.ts';
import { NOTIFICATION_STATUSES } from '#core/oncall/recipients.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import type { Caller, RequestOrigin } from '#kernel/caller.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

export const TestNotificationView = Type.Object({
  notificationId: IdText,
  channel: ChannelName,
  to: nullable(Type.String({ description: 'masked; null for push' })),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  reason: nullable(Type.String()),
  updatedAt: Timestamp,
});

const PER_MINUTE_MAX = 3;
/** Tests cost money, and ring a phone. */
const PER_DAY_MAX = 30;

const NO_ADDRESS: Record<Channel, string> = {
  sms: 'no team that you are in knows a phone number of yours',
  call: 'no team that you are in knows a phone number of yours',
  push: 'you have not subscribed a browser',
  email: 'your account has no mail address',
};

/**
 * Sends a test to each own address of the channel, whether or not the caller has the channel on. Throws `conflict` when
 * there is nowhere to send it to, `rate_limited` after three within a minute or thirty within a day.
 */
export async function sendTestNotifications(
  unit: UnitOfWork,
  caller: Caller,
  channel: Channel,
  { configuredChannels }: Pick<ActionContext, 'configuredChannels'>,
  origin: RequestOrigin,
): Promise<{ testNotifications: Static<typeof TestNotificationView>[] }> {
  const { stores, now, enqueue } = unit;
  const userId = callerUser(caller);
  if (!configuredChannels.has(channel)) throw new AppError('conflict', `${channel} is not set up on this server`);
  const addresses = await listOwnAddresses(stores, caller.orgId, userId, channel);
  if (addresses.length === 0) throw new AppError('conflict', NO_ADDRESS[channel]);
  const askedFor = (hours: number) =>
    stores.notifications.countAskedFor('test', userId, channel, {
      since: now.subtract({ seconds: Math.round(hours * 3_600) }),
      now,
    });
  if ((await askedFor(24)) >= PER_DAY_MAX) {
    throw new AppError('rate_limited', `no more than ${PER_DAY_MAX} tests of a channel a day`, {
      retryAfterSeconds: 3_600,
    });
  }
  if ((await askedFor(1 / 60)) >= PER_MINUTE_MAX) {
    const message = `no more than ${PER_MINUTE_MAX} tests a minute`;
    throw new AppError('rate_limited', message, { retryAfterSeconds: 60 });
  }
  const entry = { orgId: caller.orgId, incidentId: null, stepIndex: null, kind: 'test', userId, channel } as const;
  const ids = await stores.notifications.insert(
    addresses.map((address) => ({ ...entry, address, status: 'queued', reason: null })),
    now,
  );
  for (const notificationId of ids) {
    enqueue(deliverPage, { notificationId });
    const { orgId, actor, via } = caller;
    const what = { action: 'send_test_notification', target: notificationId, before: null, after: { channel } };
    await stores.audit.append({ orgId, actor, via, ...what, result: 'done', origin }, now);
  }
  return { testNotifications: await Promise.all(ids.map((id) => getTestNotification(stores, caller, id))) };
}

/** How a test of the caller's has fared. */
export async function getTestNotification(
  stores: Stores,
  caller: Caller,
  notificationId: string,
): Promise<Static<typeof TestNotificationView>> {
  const notification = await stores.notifications.find(notificationId);
  const isOwn = notification?.userId === callerUser(caller) && notification.orgId === caller.orgId;
  if (notification?.kind !== 'test' || !isOwn) throw notFound('notificationId', 'test notification');
  return toView(notification);
}

/** null stands for every subscribed browser. */
async function listOwnAddresses(
  stores: Stores,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  channel: Channel,
): Promise<(string | null)[]> {
  switch (channel) {
    case 'sms':
    case 'call':
      return await stores.teams.listPhonesOf(orgId, userId);
    case 'push':
      return (await stores.pushSubscriptions.listOf(userId)).length > 0 ? [null] : [];
    case 'email': {
      const person = (await stores.people.listPeople(orgId, [userId])).get(userId);
      return person === undefined ? [] : [person.email];
    }
  }
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
