import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { callerUser, PersonName, readSignedIn, SignedInView } from '#modules/accounts/view.ts';
import { ContactView, SubscriptionView, toContactView, toSubscriptionView } from '#modules/contacts/contact_view.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { ChannelName } from '#modules/policies/view.ts';
import { listOwnShifts, OwnShiftView } from '#modules/schedules/own_shifts.ts';
import { ReadinessView, readReadiness } from '#modules/teams/view.ts';

const SHIFTS_MAX = 12;

const MeView = Type.Object({
  teams: Type.Array(
    Type.Object({ teamId: IdText, name: Type.String(), contact: ContactView, readiness: ReadinessView }),
    { description: 'oldest first' },
  ),
  own: Type.Object(ContactView.properties, {
    description: 'how you are reached about incidents of teams that you are not in',
  }),
  ownReadiness: Type.Object(ReadinessView.properties, {
    description: 'whether a page about an incident of another team would wake you',
  }),
  shifts: Type.Array(OwnShiftView, { description: `your next ${SHIFTS_MAX} shifts, the current ones first` }),
  pushSubscriptions: Type.Array(SubscriptionView, { description: 'oldest first' }),
  vapidPublicKey: Type.String({ description: 'for PushManager.subscribe' }),
  channels: Type.Array(Type.Object({ channel: ChannelName, configured: Type.Boolean() })),
  confirmedPhones: Type.Array(Type.String(), { description: 'own numbers of any team that are confirmed' }),
  hasReplyPin: Type.Boolean({ description: 'whether replies by SMS and call must carry a PIN' }),
});

export const getMe = defineOperation({
  name: 'get_me',
  summary:
    'Show how each of your teams reaches you, whether a page would wake you, and which of your browsers receive push messages.',
  permission: 'organization:view',
  effect: 'read',
  result: MeView,
  async handle(_input, context) {
    const { caller, stores, now, configuredChannels, installation } = context;
    const userId = callerUser(caller);
    const places = await stores.teams.listPlacesOf(caller.orgId, userId);
    const person = (await stores.people.listReachable(caller.orgId, [userId])).get(userId);
    if (person === undefined) throw new Error('the caller is not a member of the organization');
    const readinessOf = await readReadiness([person], context);
    return {
      own: toContactView(person.own),
      ownReadiness: readinessOf(person, null),
      shifts: await listOwnShifts(stores, caller.orgId, userId, now, SHIFTS_MAX),
      teams: places.map((place) => ({
        teamId: place.teamId,
        name: place.teamName,
        contact: toContactView(place),
        readiness: readinessOf(person, place),
      })),
      pushSubscriptions: (await stores.pushSubscriptions.listOf(caller.orgId, userId)).map(toSubscriptionView),
      vapidPublicKey: installation.vapidPublicKey,
      channels: CHANNELS.map((channel) => ({ channel, configured: configuredChannels.has(channel) })),
      confirmedPhones: await stores.phoneNumbers.listConfirmed(userId),
      hasReplyPin: (await stores.phoneNumbers.findPin(userId)) !== null,
    };
  },
});

const NameRead = Type.String({ description: 'the name that was read' });

export const updateMe = defineOperation({
  name: 'update_me',
  scope: 'signed_in',
  route: 'PATCH /me',
  countsEverywhere: true,
  summary: 'Change your name.',
  effect: 'write',
  input: StrictObject({ name: Type.Optional(PersonName), basedOn: Type.Optional(NameRead) }),
  result: SignedInView,
  conflict: 'the name was changed since it was read',
  example: { name: 'Anna', basedOn: 'Ann' },
  async handle({ name, basedOn }, { stores, now, session, record }) {
    const { userId } = session;
    const before = await stores.people.lockUser(userId);
    if (before !== null && name !== undefined && before.name !== name) {
      if (basedOn !== undefined) changesSince({ name: basedOn }, before, { name }, 'your name');
      await stores.people.saveName(userId, name, now);
      record({ userId, target: userId, before: { name: before.name }, after: { name } });
    }
    return await readSignedIn(stores, session);
  },
});
