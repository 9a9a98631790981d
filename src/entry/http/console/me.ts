import { Type } from 'typebox';

import { CLOSED, IdText } from '#actions/fields.ts';
import { changeOwnContact, ContactInput, ContactView, listOwnContacts, OwnTeamView } from '#actions/me/own_contacts.ts';
import {
  listSubscriptions,
  subscribe,
  SubscriptionInput,
  SubscriptionView,
  unsubscribe,
} from '#actions/me/push_subscriptions.ts';
import { getTestNotification, sendTestNotifications, TestNotificationView } from '#actions/me/test_notifications.ts';
import { ChannelName } from '#actions/policies/view.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { CHANNELS } from '#core/oncall/channel.ts';
import { isNameOfInside } from '#auth/outside_fetch.ts';
import { outsideOptionsOf } from '#entry/outside_options.ts';
import { invalidInput } from '#kernel/errors.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const MeView = Type.Object({
  teams: Type.Array(OwnTeamView),
  pushSubscriptions: Type.Array(SubscriptionView),
  vapidPublicKey: Type.String({ description: 'for PushManager.subscribe' }),
  channels: Type.Array(Type.Object({ channel: ChannelName, configured: Type.Boolean() })),
  confirmedPhones: Type.Array(Type.String(), { description: 'own numbers of any team that are confirmed' }),
  hasReplyPin: Type.Boolean({ description: 'whether replies by SMS and call must carry a PIN' }),
});

export const ME_ROUTES = [
  consoleRoute({
    name: 'get_me',
    method: 'GET',
    path: '/organizations/:org/me',
    tag: 'Own account',
    summary: 'Tell how each of your teams reaches you, and which browsers of yours show messages.',
    access: 'member',
    result: MeView,
    async handle({ house, caller }) {
      const stores = storesOf(house.db.session());
      return {
        teams: await listOwnContacts(stores, caller),
        ...(await listSubscriptions(stores, caller)),
        vapidPublicKey: house.vapidKeys.publicKey,
        channels: CHANNELS.map((channel) => {
          return { channel, configured: house.actions.configuredChannels.has(channel) };
        }),
        confirmedPhones: await stores.phoneNumbers.listConfirmed(caller.actor.userId),
        hasReplyPin: (await stores.phoneNumbers.findPin(caller.actor.userId)) !== null,
      };
    },
  }),
  consoleRoute({
    name: 'update_own_contact',
    method: 'PATCH',
    path: '/organizations/:org/me/teams/:teamId',
    tag: 'Own account',
    summary: 'Change how a team reaches you. Everybody may, whatever their role.',
    access: 'member',
    body: ContactInput,
    result: ContactView,
    handle: ({ house, caller, params, body, origin }) =>
      inUnitOfWork(house.actions, (unit) =>
        changeOwnContact(unit, caller, params['teamId'] ?? '', body, origin, house.actions.configuredChannels),
      ),
  }),
  consoleRoute({
    name: 'create_push_subscription',
    method: 'POST',
    path: '/organizations/:org/me/push-subscriptions',
    tag: 'Own account',
    summary: 'Make a browser of yours show messages.',
    access: 'member',
    body: SubscriptionInput,
    result: SubscriptionView,
    async handle({ house, caller, body, origin }) {
      if (URL.canParse(body.endpoint)) {
        const { hostname } = new URL(body.endpoint);
        // It is judged again at each message: a name may change its mind.
        if (await isNameOfInside(hostname, outsideOptionsOf(house.config))) {
          const message = 'must be the address of a public push service; this name stands for one that is not public';
          throw invalidInput([{ path: 'endpoint', message }]);
        }
      }
      return await inUnitOfWork(house.actions, (unit) => subscribe(unit, caller, body, origin));
    },
  }),
  consoleRoute({
    name: 'delete_push_subscription',
    method: 'DELETE',
    path: '/organizations/:org/me/push-subscriptions/:subscriptionId',
    tag: 'Own account',
    summary: 'Let a browser of yours show no more messages.',
    access: 'member',
    result: Type.Object({ deleted: Type.Literal(true), subscriptionId: IdText }),
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, (unit) => unsubscribe(unit, caller, params['subscriptionId'] ?? '', origin)),
  }),
  consoleRoute({
    name: 'send_test_notification',
    method: 'POST',
    path: '/organizations/:org/me/test-notifications',
    tag: 'Own account',
    summary: 'Send a test to each of your own addresses of a channel; three a minute.',
    access: 'member',
    body: Type.Object({ channel: ChannelName }, CLOSED),
    result: Type.Object({ testNotifications: Type.Array(TestNotificationView) }),
    refusals: ['conflict', 'rate_limited'],
    handle: ({ house, caller, body: { channel }, origin }) =>
      inUnitOfWork(house.actions, (unit) => sendTestNotifications(unit, caller, channel, house.actions, origin)),
  }),
  consoleRoute({
    name: 'get_test_notification',
    method: 'GET',
    path: '/organizations/:org/me/test-notifications/:notificationId',
    tag: 'Own account',
    summary: 'Tell how a test of yours has fared.',
    access: 'member',
    result: TestNotificationView,
    handle: ({ house, caller, params }) =>
      getTestNotification(storesOf(house.db.session()), caller, params['notificationId'] ?? ''),
  }),
];
