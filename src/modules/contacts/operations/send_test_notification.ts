import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { readTestNotification, TestNotificationView } from '#modules/contacts/operations/test_notification_view.ts';
import { ChannelName } from '#modules/policies/view.ts';
import { type AddressKind, type Channel, declarationOf } from '#modules/contacts/decide/channel.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Stores } from '#modules/stores.ts';

const NO_ADDRESS: Record<AddressKind, string> = {
  phone: 'no team that you are in knows a phone number of yours',
  browser: 'you have not subscribed a browser',
  email: 'your account has no mail address',
};

/** Sends a test, whether or not the caller has the channel on. */
export const sendTestNotification = defineAction({
  name: 'send_test_notification',
  consoleOnly: true,
  summary: 'Send a test to each of your own addresses of a channel; a few a minute.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object({ channel: ChannelName }, STRICT),
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
    return { testNotifications: await Promise.all(ids.map((id) => readTestNotification({ stores, caller }, id))) };
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
      return (await stores.pushSubscriptions.listOf(userId)).length > 0 ? [null] : [];
    case 'email': {
      const person = (await stores.people.listPeople(orgId, [userId])).get(userId);
      return person === undefined ? [] : [person.email];
    }
  }
}
