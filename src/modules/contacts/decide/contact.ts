import type { Id } from '#kernel/ids.ts';
import { recordOf } from '#kernel/records.ts';
import { escapeLineText, foldLine } from '#modules/schedules/decide/ics_dates.ts';

import { type Channel, CHANNEL_PREFERENCES, type ChannelPreference, declarationOf } from './channel.ts';

/** Addresses of a person and their own preferences for being reached. */
export interface Contact extends Readonly<Record<ChannelPreference, boolean>> {
  readonly userId: Id<'user'>;
  /** Phone number in E.164. */
  readonly phone: string | null;
  readonly email: string | null;
  /** Whether a browser of theirs has subscribed to push. */
  readonly hasPush: boolean;
}

const ALL_ON = recordOf(CHANNEL_PREFERENCES, () => true);

/** A phone number and the channels that somebody wants: in a team, or of their own. */
export type Preferences = Pick<Contact, 'phone' | ChannelPreference>;

/**
 * Returns the contact of somebody whom a step names or an override puts on call, but who is not a member of the team.
 * They are reached as they have said for such incidents; else by the email of their account and by push.
 */
export function contactOfNonMember(
  account: Pick<Contact, 'userId' | 'email' | 'hasPush'>,
  preferences: Preferences = { phone: null, ...ALL_ON },
): Contact {
  return { ...preferences, ...account };
}

/** An account, with what the person has said for incidents of teams that they are not in. */
type Account = Pick<Contact, 'userId' | 'email'> & { readonly own?: Preferences };

/**
 * Returns the contact of each account: by the settings of its team member, if the account is one. A number in the team comes
 * before the person's own, which counts in every team that has none.
 */
export function contactsOf(
  accounts: readonly Account[],
  subscribers: ReadonlySet<Id<'user'>>,
  members: readonly (Preferences & Pick<Contact, 'userId'>)[],
): Map<Id<'user'>, Contact> {
  const preferences = new Map(members.map((member) => [member.userId, member]));
  return new Map(
    accounts.map(({ userId, email, own }) => {
      const account = { userId, email, hasPush: subscribers.has(userId) };
      const member = preferences.get(userId);
      if (member === undefined) return [userId, contactOfNonMember(account, own)];
      return [userId, { ...member, phone: member.phone ?? own?.phone ?? null, ...account }];
    }),
  );
}

export function wantsChannel(contact: Contact, channel: Channel): boolean {
  const { preference } = declarationOf(channel);
  return preference === null || contact[preference];
}

/** Address on a channel; `to` is null for push, which goes to every browser that the person has subscribed. */
interface Address {
  readonly to: string | null;
}

/** Returns the address on a channel; null if there is none. */
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

/** Whether a provider's id matches the pattern: its message went to the phone simulator. */
export function isSimulatedId(providerId: string | null, simulatedIds: string): boolean {
  return providerId !== null && providerId.startsWith(simulatedIds.replace(/^__|%$/g, ''), 2);
}

/** Senders of messages, for the address book of a phone. */
export interface Senders {
  /** Phone numbers in E.164. */
  readonly phones: readonly string[];
  readonly emails: readonly string[];
}

/**
 * Returns a vCard 3.0, which every phone reads. A contact that is in the address book may be let through while Do Not
 * Disturb is on.
 */
export function contactCardOf(name: string, { phones, emails }: Senders): string {
  const lines = [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `FN:${escapeLineText(name)}`,
    `N:${escapeLineText(name)};;;;`,
    `ORG:${escapeLineText(name)}`,
    ...phones.map((phone) => `TEL;TYPE=WORK,VOICE:${escapeLineText(phone)}`),
    ...emails.map((email) => `EMAIL;TYPE=INTERNET:${escapeLineText(email)}`),
    'NOTE:Pages about incidents come from here. Let this contact through while Do Not Disturb is on.',
    'END:VCARD',
  ];
  return lines.map((line) => `${foldLine(line)}\r\n`).join('');
}
