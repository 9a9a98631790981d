import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import { ChannelName } from '#actions/policies/view.ts';
import { contactsOf } from '#core/oncall/contact.ts';
import { maskPhone } from '#core/oncall/masking.ts';
import { judgeReadiness } from '#core/oncall/readiness.ts';
import { CHANNEL_READINESS, READINESS_ANSWERS, READINESS_REASONS } from '#core/oncall/readiness_words.ts';
import { keysOf } from '#kernel/keys_of.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import type { Person } from '#storage/postgres/people_store.ts';
import type { TeamMemberWithPerson } from '#storage/postgres/team_store.ts';

export const ReadinessView = Type.Object({
  answer: Type.Enum([...READINESS_ANSWERS], { description: 'whether a page at night would wake the person' }),
  reasons: Type.Array(Type.Enum(keysOf(READINESS_REASONS)), { description: 'what keeps it from a plain yes' }),
  channels: Type.Array(
    Type.Object({
      channel: ChannelName,
      state: Type.Enum([...CHANNEL_READINESS]),
      provedAt: nullable(Timestamp),
    }),
    { description: 'provedAt: when a test or page last arrived at the present address' },
  ),
  deviceCount: Type.Integer({ description: 'browsers subscribed to push' }),
});

type Readiness = Static<typeof ReadinessView>;

/** Answers for any of these people, and for members by the settings of their team; in two queries for all of them. */
export async function readReadiness(
  people: readonly Pick<Person, 'userId' | 'email'>[],
  { caller, stores, configuredChannels, now }: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'now'>,
): Promise<(person: Pick<Person, 'userId' | 'email'>, member: TeamMemberWithPerson | null) => Readiness> {
  const userIds = people.map(({ userId }) => userId);
  const devices = await stores.readiness.listDevices(userIds);
  const arrivals = Map.groupBy(await stores.readiness.listArrivals(caller.orgId, userIds), ({ userId }) => userId);
  const subscribers = new Set(devices.keys());
  return (person, member) => {
    const contact = contactsOf([person], subscribers, member === null ? [] : [member]).get(person.userId);
    if (contact === undefined) throw new Error(`no contact was made for ${person.userId}`);
    const own = devices.get(person.userId);
    const reach = {
      contact,
      isPhoneConfirmed: member?.phoneConfirmed ?? false,
      arrivals: arrivals.get(person.userId) ?? [],
      devicesSince: own?.since ?? null,
    };
    const { answer, reasons, channels } = judgeReadiness(reach, configuredChannels, now);
    return {
      answer,
      reasons: [...reasons],
      channels: channels.map((one) => ({ ...one, provedAt: toTimestampOrNull(one.provedAt) })),
      deviceCount: own?.count ?? 0,
    };
  };
}

/** A number in full for its owner and for those who may change it; others see which country and the last digits. */
export function shownPhone(phone: string | null, userId: Id<'user'>, { permissions, actor }: ActionContext['caller']) {
  const isOwn = actor.kind === 'user' && actor.userId === userId;
  return phone === null || isOwn || permissions.has('oncall:edit') ? phone : maskPhone(phone);
}
