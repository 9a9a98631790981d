import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import { ChannelName } from '#modules/policies/view.ts';
import { contactsOf, type Preferences } from '#modules/contacts/decide/contact.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { judgeReadiness } from '#modules/contacts/decide/readiness.ts';
import { CHANNEL_READINESS, READINESS_ANSWERS, READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';
import { keysOf } from '#kernel/records.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import type { Person } from '#modules/accounts/store/people_store.ts';

export const ReadinessView = Type.Object({
  answer: Type.Enum([...READINESS_ANSWERS], { description: 'whether a page at night would wake the person' }),
  reasons: Type.Array(Type.Enum(keysOf(READINESS_REASONS)), { description: 'what keeps it from a plain yes' }),
  channels: Type.Array(
    Type.Object({ channel: ChannelName, state: Type.Enum([...CHANNEL_READINESS]), provedAt: nullable(Timestamp) }),
    { description: 'provedAt: when a test or page last arrived at the present address' },
  ),
  deviceCount: Type.Integer({ description: 'browsers subscribed to push' }),
});

type Readiness = Static<typeof ReadinessView>;

/** Settings by which a team reaches one of its members. */
type TeamSettings = Preferences & { readonly userId: Id<'user'> };

/**
 * Reads the readiness of any of these people: for members by the settings of their team, else by what they have said
 * for other teams. In five queries for all of them.
 */
export async function readReadiness(
  people: readonly Pick<Person, 'userId' | 'email'>[],
  {
    caller,
    stores,
    configuredChannels,
    installation,
    now,
  }: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'installation' | 'now'>,
): Promise<(person: Pick<Person, 'userId' | 'email'>, member: TeamSettings | null) => Readiness> {
  const userIds = people.map(({ userId }) => userId);
  const [devices, arrived, reachable, confirmed, stopped] = await Promise.all([
    stores.readiness.listDevices(userIds),
    stores.readiness.listArrivals(caller.orgId, userIds, installation.simulatedIds),
    stores.people.listReachable(caller.orgId, userIds),
    stores.phoneNumbers.listConfirmedOf(userIds),
    stores.phoneNumbers.listStoppedOf(caller.orgId, userIds),
  ]);
  const arrivals = Map.groupBy(arrived, ({ userId }) => userId);
  const subscribers = new Set(devices.keys());
  return (person, member) => {
    const { userId, email } = person;
    const reachableBy = reachable.get(userId);
    const account = { userId, email, ...(reachableBy !== undefined && { own: reachableBy.own }) };
    const contact = contactsOf([account], subscribers, member === null ? [] : [member]).get(userId);
    if (contact === undefined) throw new Error(`no contact was made for ${userId}`);
    const ownDevices = devices.get(userId);
    const reach = {
      contact,
      isPhoneConfirmed: contact.phone !== null && (confirmed.get(userId)?.has(contact.phone) ?? false),
      mayAnswer: reachableBy === undefined || mayAnswer(reachableBy.role),
      hasStoppedSms: contact.phone !== null && stopped.has(contact.phone),
      arrivals: arrivals.get(userId) ?? [],
      devicesSince: ownDevices?.since ?? null,
    };
    const { answer, reasons, channels } = judgeReadiness(
      reach,
      { configured: configuredChannels, simulated: installation.simulatedChannels },
      now,
    );
    return {
      answer,
      reasons: [...reasons],
      channels: channels.map((channel) => ({ ...channel, provedAt: toTimestampOrNull(channel.provedAt) })),
      deviceCount: ownDevices?.count ?? 0,
    };
  };
}

/** Returns a number in full for its owner and those who may change it; others see the country and the last digits. */
export function shownPhone(phone: string | null, userId: Id<'user'>, { permissions, actor }: ActionContext['caller']) {
  const isOwn = actor.kind === 'user' && actor.userId === userId;
  return phone === null || isOwn || permissions.has('oncall:edit') ? phone : maskPhone(phone);
}
