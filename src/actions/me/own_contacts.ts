import { type Static, Type } from 'typebox';

import { CLOSED, IdText, nullable } from '#actions/fields.ts';
import { tellOfNumberChange } from '#actions/teams/change_number.ts';
import { CHANNEL_SWITCHES, Phone } from '#actions/teams/contact_fields.ts';
import { toMemberRecord } from '#actions/teams/view.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { MemberCaller } from '#auth/sessions.ts';
import type { Channel } from '#core/oncall/channel.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { Stores } from '#storage/postgres/stores.ts';
import type { MemberContact } from '#storage/postgres/team_store.ts';

export const ContactInput = Type.Object({ phone: Type.Optional(nullable(Phone)), ...CHANNEL_SWITCHES }, CLOSED);

export const ContactView = Type.Object({
  phone: nullable(Type.String({ description: 'E.164' })),
  smsEnabled: Type.Boolean(),
  callEnabled: Type.Boolean(),
  pushEnabled: Type.Boolean(),
  emailEnabled: Type.Boolean(),
});

export const OwnTeamView = Type.Object({ teamId: IdText, name: Type.String(), contact: ContactView });

/** The teams that the person is in, and how each reaches them; oldest team first. */
export async function listOwnContacts(
  stores: Stores,
  { orgId, actor }: MemberCaller,
): Promise<Static<typeof OwnTeamView>[]> {
  const own = await stores.teams.listPlacesOf(orgId, actor.userId);
  return own.map((place) => ({ teamId: place.teamId, name: place.teamName, contact: toView(place) }));
}

/** Everybody may change how they themselves are reached, whatever their role. Throws `not_found` for another's team. */
export async function changeOwnContact(
  unit: UnitOfWork,
  caller: MemberCaller,
  teamId: string,
  input: Static<typeof ContactInput>,
  origin: RequestOrigin,
  configured: ReadonlySet<Channel>,
): Promise<Static<typeof ContactView>> {
  const { stores, now } = unit;
  const { orgId, actor, via } = caller;
  const member = await stores.teams.lockMemberOf(orgId, teamId, actor.userId);
  const before = toMemberRecord(member);
  const wasReached = toView(member);
  Object.assign(member, input);
  await stores.teams.saveMember(member, now);
  const contact = toView(member);
  if (JSON.stringify(contact) === JSON.stringify(wasReached)) return contact;
  if (contact.phone !== wasReached.phone) await tellOfNumberChange(unit, caller, member, wasReached.phone, configured);
  // Two numbers may look the same once they are masked.
  const after = { ...toMemberRecord(member), ...(contact.phone === wasReached.phone ? {} : { phoneChanged: true }) };
  const change = { action: 'update_own_contact', target: member.id, before, after };
  await stores.audit.append({ orgId, actor, via, ...change, result: 'done', origin }, now);
  return contact;
}

function toView({ phone, smsEnabled, callEnabled, pushEnabled, emailEnabled }: MemberContact) {
  return { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled };
}
