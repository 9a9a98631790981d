import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { type AddressKind, type Channel, declarationOf } from '#modules/contacts/decide/channel.ts';
import { maskAddress } from '#modules/contacts/decide/masking.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { NOTIFICATION_STATUSES } from '#modules/policies/decide/recipients.ts';
import { ChannelName } from '#modules/policies/view.ts';
import type { Stores } from '#modules/stores.ts';
import { findSimulatorUrl } from '#modules/contacts/contact_view.ts';
import { isSimulatedId } from '#modules/contacts/decide/contact.ts';
import { deliverPage } from '#storage/queue/jobs.ts';

const TestNotificationView = Type.Object({
  notificationId: IdText,
  channel: ChannelName,
  to: nullable(Type.String({ description: 'masked; null for push' })),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  reason: nullable(Type.String()),
  isSimulated: Type.Boolean({ description: 'whether it went to the phone simulator, and so proves nothing' }),
  simulatorUrl: nullable(
    Type.String({ description: 'where an owner sees it, if it went to the phone simulator of this machine' }),
  ),
  updatedAt: Timestamp,
});

/** Returns the outcome of a test notification of the caller. Throws `not_found`. */
async function readTestNotification(
  context: Pick<ActionContext, 'stores' | 'caller' | 'installation'>,
  notificationId: string,
): Promise<Static<typeof TestNotificationView>> {
  const { stores, caller, installation } = context;
  const notification = await stores.notifications.find(notificationId);
  const isOwn = notification?.userId === callerUser(caller) && notification.orgId === caller.orgId;
  if (notification?.kind !== 'test' || !isOwn) throw notFound('notificationId', 'test notification');
  const isSimulated = isSimulatedId(notification.providerId, installation.simulatedIds);
  const page = isSimulated ? await findSimulatorUrl(context) : null;
  const number = encodeURIComponent(notification.address ?? '');
  return { ...toView(notification), isSimulated, simulatorUrl: page && `${page}?number=${number}` };
}

function toView(entry: NotificationRow): Omit<Static<typeof TestNotificationView>, 'isSimulated' | 'simulatorUrl'> {
  return {
    notificationId: entry.id,
    channel: entry.channel,
    to: maskAddress(entry.channel, entry.address),
    status: entry.status === 'sending' ? 'queued' : entry.status,
    reason: entry.reason,
    updatedAt: toTimestamp(entry.updatedAt),
  };
}

const NO_ADDRESS: Record<AddressKind, string> = {
  phone: 'no team that you are in knows a phone number of yours',
  browser: 'you have not subscribed a browser',
  email: 'your account has no mail address',
};

/** Sends a test, whether or not the caller has the channel on. */
export const sendTestNotification = defineOperation({
  name: 'send_test_notification',
  summary: 'Send a test to each of your own addresses of a channel; a few a minute.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ channel: ChannelName }),
  result: Type.Object({ testNotifications: Type.Array(TestNotificationView) }),
  conflict: 'the channel is not set up on this server, or you have no address of it',
  refusals: ['rate_limited'],
  example: { channel: 'sms' },
  async handle({ channel }, { caller, stores, now, enqueue, record, configuredChannels, installation }) {
    const { orgId } = caller;
    const userId = callerUser(caller);
    if (!configuredChannels.has(channel)) throw new AppError('conflict', `${channel} is not set up on this server`);
    const addresses = await listOwnAddresses(stores, orgId, userId, channel);
    if (addresses.length === 0) throw new AppError('conflict', NO_ADDRESS[declarationOf(channel).addressKind]);
    const askedFor = (hours: number) =>
      stores.notifications.countAskedFor('test', userId, channel, {
        since: now.subtract({ seconds: Math.round(hours * 3_600) }),
        now,
      });
    const { testsPerDay, testsPerMinute } = installation.limits;
    if ((await askedFor(24)) >= testsPerDay) {
      throw new AppError('rate_limited', `no more than ${testsPerDay} tests of a channel a day`, {
        limit: 'testsPerDay',
        retryAfterSeconds: 3_600,
      });
    }
    if ((await askedFor(1 / 60)) >= testsPerMinute) {
      const message = `no more than ${testsPerMinute} tests a minute`;
      throw new AppError('rate_limited', message, { limit: 'testsPerMinute', retryAfterSeconds: 60 });
    }
    const entry = { orgId, incidentId: null, stepIndex: null, kind: 'test', userId, channel } as const;
    const ids = await stores.notifications.insert(
      addresses.map((address) => ({ ...entry, address, status: 'queued', reason: null })),
      now,
    );
    for (const notificationId of ids) {
      enqueue(deliverPage, { notificationId });
      record({ target: notificationId, before: null, after: { channel } });
    }
    return {
      testNotifications: await Promise.all(ids.map((id) => readTestNotification({ stores, caller, installation }, id))),
    };
  },
});

/** Lists the caller's addresses on a channel; null stands for every subscribed browser. */
async function listOwnAddresses(
  stores: Stores,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  channel: Channel,
): Promise<(string | null)[]> {
  switch (declarationOf(channel).addressKind) {
    case 'phone':
      return await stores.teams.listPhonesOf(orgId, userId);
    case 'browser':
      return (await stores.pushSubscriptions.listOf(orgId, userId)).length > 0 ? [null] : [];
    case 'email': {
      const person = (await stores.people.listPeople(orgId, [userId])).get(userId);
      return person === undefined ? [] : [person.email];
    }
  }
}

export const getTestNotification = defineOperation({
  name: 'get_test_notification',
  summary: 'Show the result of one of your test notifications.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({ notificationId: IdText }),
  result: TestNotificationView,
  handle: ({ notificationId }, context) => readTestNotification(context, notificationId),
});
