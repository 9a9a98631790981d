import { type Static, Type } from 'typebox';

import { type ActionContext, changesSince, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable } from '#actions/fields.ts';
import { type FileAnswer, StrictObject } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { ContactView, toContactView } from '#modules/contacts/contact_view.ts';
import { contactCardOf, type Preferences } from '#modules/contacts/decide/contact.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { notifyOfNumberChange } from '#modules/teams/change_number.ts';
import { CHANNEL_SWITCHES, ContactRead, Phone, toMemberRecord } from '#modules/teams/view.ts';

const WHAT = 'how you are reached';

/** Changes how the caller is reached; every role may do that for itself. */
export const updateOwnContact = defineOperation({
  name: 'update_own_contact',
  summary:
    'Change how a team reaches you, or with teamId null how you are reached about incidents of other teams. Every role may do this.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({
    teamId: nullable(IdText),
    phone: Type.Optional(nullable(Phone)),
    ...CHANNEL_SWITCHES,
    basedOn: Type.Optional(ContactRead),
  }),
  result: ContactView,
  conflict: 'somebody has changed the same since it was read',
  example: {
    phone: '+31612345678',
    smsEnabled: true,
    callEnabled: false,
    pushEnabled: true,
    emailEnabled: true,
    basedOn: { phone: null, smsEnabled: true, callEnabled: true, pushEnabled: true, emailEnabled: true },
  },
  async handle({ teamId, basedOn, ...input }, context) {
    if (teamId === null) return await updatePreferences(input, basedOn, context);
    const { caller, stores, now, configuredChannels, record } = context;
    const member = await stores.teams.lockMemberOf(caller.orgId, teamId, callerUser(caller));
    const before = toMemberRecord(member);
    const wasReached = toContactView(member);
    Object.assign(member, changesSince(basedOn, wasReached, input, WHAT));
    await stores.teams.saveMember(member, now);
    const contact = toContactView(member);
    const change = { before: wasReached.phone, after: contact.phone };
    await notifyOfNumberChange(context, caller, member.userId, change, configuredChannels);
    // Two numbers may look the same once they are masked.
    const after = { ...toMemberRecord(member), ...(contact.phone === wasReached.phone ? {} : { phoneChanged: true }) };
    record({ target: member.id, before, after });
    return contact;
  },
});

/** Changes the settings for incidents of teams that the person is not in. */
async function updatePreferences(
  input: Partial<Preferences>,
  basedOn: Preferences | undefined,
  context: ActionContext,
): Promise<Static<typeof ContactView>> {
  const { caller, stores, configuredChannels, record } = context;
  const userId = callerUser(caller);
  const membership = await stores.people.lockMembership(caller.orgId, userId);
  const before = toContactView(membership);
  Object.assign(membership, changesSince(basedOn, before, input, WHAT));
  await stores.people.saveMembership(membership);
  const contact = toContactView(membership);
  const isOther = contact.phone !== before.phone;
  const change = { before: before.phone, after: contact.phone };
  await notifyOfNumberChange(context, caller, userId, change, configuredChannels);
  record({
    target: userId,
    before: maskedContact(before),
    after: { ...maskedContact(contact), ...(isOther && { phoneChanged: true }) },
  });
  return contact;
}

function maskedContact(contact: Static<typeof ContactView>): object {
  return { ...contact, phone: contact.phone === null ? null : maskPhone(contact.phone) };
}

const MEDIA_TYPE = 'text/vcard';
const NAME = 'Tocsin pages';

export const getContactCard = defineOperation({
  name: 'get_contact_card',
  summary:
    'Download a contact card with the numbers and the address that pages come from, so that a phone lets them through while it is silent.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: [MEDIA_TYPE],
  conflict: 'neither SMS and calls nor mail is set up on this server',
  async handle(_input, { installation: { senders } }) {
    if (senders.phones.length + senders.emails.length === 0) {
      throw new AppError('conflict', 'neither SMS and calls nor mail is set up on this server');
    }
    return { name: 'tocsin.vcf', mediaType: MEDIA_TYPE, content: inOnePiece(contactCardOf(NAME, senders)) };
  },
});

async function* inOnePiece(text: string): AsyncGenerator<string> {
  yield text;
}
