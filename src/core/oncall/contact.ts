import type { Id } from '#kernel/ids.ts';
import { recordOf } from '#kernel/record_of.ts';

import { type Channel, CHANNEL_PREFERENCES, type ChannelPreference, declarationOf } from './channel.ts';

/** How one person can be reached: addresses and the person's own preferences. */
export interface Contact extends Readonly<Record<ChannelPreference, boolean>> {
  readonly userId: Id<'user'>;
  /** E.164. */
  readonly phone: string | null;
  readonly email: string | null;
  /** Whether a browser of theirs has subscribed to push. */
  readonly hasPush: boolean;
}

const ALL_ON = recordOf(CHANNEL_PREFERENCES, () => true);

/**
 * The contact of somebody whom a step names or an override puts on call, but who is not a member of the team. Their phone
 * and preferences are not known, so they are reached by the email of their account and by push.
 */
export function contactOfNonMember(account: Pick<Contact, 'userId' | 'email' | 'hasPush'>): Contact {
  return { ...account, phone: null, ...ALL_ON };
}

type Preferences = Pick<Contact, 'userId' | 'phone' | ChannelPreference>;

/** How a team reaches each of these accounts: by the settings of its member, if the account is one. */
export function contactsOf(
  accounts: readonly Pick<Contact, 'userId' | 'email'>[],
  subscribers: ReadonlySet<Id<'user'>>,
  members: readonly Preferences[],
): Map<Id<'user'>, Contact> {
  const preferences = new Map(members.map((member) => [member.userId, member]));
  return new Map(
    accounts.map(({ userId, email }) => {
      const account = { userId, email, hasPush: subscribers.has(userId) };
      const member = preferences.get(userId);
      return [userId, member === undefined ? contactOfNonMember(account) : { ...member, ...account }];
    }),
  );
}

export function wantsChannel(contact: Contact, channel: Channel): boolean {
  const { preference } = declarationOf(channel);
  return preference === null || contact[preference];
}

/** Where a channel reaches somebody: null for push, which goes to every browser that they have subscribed. */
export interface Address {
  readonly to: string | null;
}

/** Null when no address is known. */
export function findAddress({ phone, email, hasPush }: Contact, channel: Channel): Address | null {
  switch (declarationOf(channel).addressKind) {
    case 'phone':
      return phone === null ? null : { to: phone };
    case 'email':
      return email === null ? null : { to: email };
    case 'browser':
      return hasPush ? { to: null } : null;
  }
}
