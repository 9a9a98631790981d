import type { Id } from '#kernel/ids.ts';

import type { Channel } from './channel.ts';

/** How one person can be reached: addresses and the person's own preferences. */
export interface Contact {
  readonly userId: Id<'user'>;
  /** E.164. */
  readonly phone: string | null;
  readonly email: string | null;
  /** Whether a browser of theirs has subscribed to push. */
  readonly hasPush: boolean;
  readonly smsEnabled: boolean;
  readonly callEnabled: boolean;
  readonly pushEnabled: boolean;
  readonly emailEnabled: boolean;
}

/**
 * The contact of somebody whom a step names or an override puts on call, but who is not a member of the team. Their phone
 * and preferences are not known, so they are reached by the email of their account and by push.
 */
export function contactOfNonMember(account: Pick<Contact, 'userId' | 'email' | 'hasPush'>): Contact {
  return { ...account, phone: null, smsEnabled: true, callEnabled: true, pushEnabled: true, emailEnabled: true };
}

type Preferences = Pick<Contact, 'userId' | 'phone' | 'smsEnabled' | 'callEnabled' | 'pushEnabled' | 'emailEnabled'>;

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
  const preferences: Record<Channel, boolean> = {
    sms: contact.smsEnabled,
    call: contact.callEnabled,
    push: contact.pushEnabled,
    email: contact.emailEnabled,
  };
  return preferences[channel];
}

/** Where a channel reaches somebody: null for push, which goes to every browser that they have subscribed. */
export interface Address {
  readonly to: string | null;
}

/** Null when no address is known. */
export function findAddress(contact: Contact, channel: Channel): Address | null {
  if (channel === 'push') return contact.hasPush ? { to: null } : null;
  const to = channel === 'email' ? contact.email : contact.phone;
  return to === null ? null : { to };
}
