import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import {
  EXAMPLE_IDS as IDS,
  EXAMPLE_PEOPLE,
  EXAMPLE_STAMPS,
  IdText,
  nullable,
  SafeInteger,
  StrictObject,
  Timestamp,
} from '#actions/fields.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { recordOf } from '#kernel/records.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { TeamMemberRow, TeamMemberWithPerson, TeamRow } from '#modules/teams/store.ts';
import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';

export const Phone = Type.String({
  pattern: E164_PATTERN,
  description: 'a phone number in E.164 form, such as +31612345678',
});

/** The channels that a member wants to be reached through. */
export const CHANNEL_SWITCHES = recordOf(CHANNEL_PREFERENCES, () => Type.Optional(Type.Boolean()));

export const CHANNEL_SWITCHES_VIEW = recordOf(CHANNEL_PREFERENCES, () => Type.Boolean());

/** Fields of a contact as its editor has read them. */
export const ContactRead = StrictObject(
  { phone: nullable(Type.String({ maxLength: 40 })), ...CHANNEL_SWITCHES_VIEW },
  { description: 'what was read: what somebody else has changed since is a conflict' },
);

export const TEAM_FIELDS = { teamId: IdText, name: Type.String(), createdAt: Timestamp, updatedAt: Timestamp };

export const TeamView = Type.Object(TEAM_FIELDS);

export const MemberView = Type.Object({
  memberId: IdText,
  teamId: IdText,
  userId: IdText,
  name: Type.String({ description: 'of the user' }),
  email: Type.String({ description: 'of the user' }),
  phone: nullable(Type.String({ description: 'E.164; masked for callers who may not edit on-call' })),
  phoneConfirmed: Type.Boolean({ description: 'whether the person has confirmed that the number is theirs' }),
  ...CHANNEL_SWITCHES_VIEW,
  sortOrder: SafeInteger,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const TEAM_EXAMPLE: Static<typeof TeamView> = { teamId: IDS.teamId, name: 'Payments', ...EXAMPLE_STAMPS };

export const MEMBER_EXAMPLE: Static<typeof MemberView> = {
  memberId: IDS.memberId,
  teamId: IDS.teamId,
  ...EXAMPLE_PEOPLE.anna,
  phone: '+31612345678',
  phoneConfirmed: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: false,
  sortOrder: 0,
  ...EXAMPLE_STAMPS,
};

export function toTeamView(team: TeamRow): Static<typeof TeamView> {
  return {
    teamId: team.id,
    name: team.name,
    createdAt: toTimestamp(team.createdAt),
    updatedAt: toTimestamp(team.updatedAt),
  };
}

export function toMemberView(member: TeamMemberWithPerson): Static<typeof MemberView> {
  const { memberId, teamId, userId, phone, ...contact } = fieldsOf(member);
  const { name, email, phoneConfirmed } = member;
  return { memberId, teamId, userId, name, email, phone, phoneConfirmed, ...contact };
}

/** Reads the member with the person's name and address of the account. */
export async function readMember(
  member: TeamMemberRow,
  { stores }: Pick<ActionContext, 'stores'>,
): Promise<Static<typeof MemberView>> {
  const person = (await stores.people.listPeople(member.orgId, [member.userId])).get(member.userId);
  if (person === undefined) throw new Error(`team member ${member.id} is not a member of the organization`);
  const phoneConfirmed = member.phone !== null && (await stores.phoneNumbers.isConfirmed(member.userId, member.phone));
  return toMemberView({ ...member, ...person, phoneConfirmed });
}

/** Returns a member as the audit log keeps it: whose it is by id only, and the phone number masked. */
export function toMemberRecord(member: TeamMemberRow): object {
  return { ...fieldsOf(member), phone: member.phone && maskPhone(member.phone) };
}

function fieldsOf(member: TeamMemberRow) {
  return {
    memberId: member.id,
    teamId: member.teamId,
    userId: member.userId,
    phone: member.phone,
    ...recordOf(CHANNEL_PREFERENCES, (preference) => member[preference]),
    sortOrder: member.sortOrder,
    createdAt: toTimestamp(member.createdAt),
    updatedAt: toTimestamp(member.updatedAt),
  };
}
