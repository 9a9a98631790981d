import { Type } from 'typebox';

import { changesSince, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, SafeInteger, StrictObject } from '#actions/fields.ts';
import { notFound } from '#kernel/errors.ts';
import { toContactView } from '#modules/contacts/contact_view.ts';
import { notifyOfNumberChange, requireMayEnterNumber } from '#modules/teams/change_number.ts';
import {
  CHANNEL_SWITCHES,
  ContactRead,
  MEMBER_EXAMPLE,
  MemberView,
  Phone,
  readMember,
  toMemberRecord,
} from '#modules/teams/view.ts';

export const updateTeamMember = defineAction({
  name: 'update_team_member',
  summary:
    'Update the phone, the channels or the place of a team member. A phone of null is forgotten. A number that its owner has confirmed is changed by them, or by an owner or admin.',
  guidance: 'A field that is left out stays.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    memberId: IdText,
    phone: Type.Optional(nullable(Phone)),
    ...CHANNEL_SWITCHES,
    sortOrder: Type.Optional(SafeInteger),
  }),
  result: MemberView,
  example: {
    memberId: IDS.memberId,
    phone: null,
    smsEnabled: false,
    callEnabled: false,
    pushEnabled: true,
    emailEnabled: true,
    sortOrder: 2,
  },
  exampleResult: {
    ...MEMBER_EXAMPLE,
    phone: null,
    smsEnabled: false,
    callEnabled: false,
    emailEnabled: true,
    sortOrder: 2,
    updatedAt: '2027-02-01T13:20:11.046Z',
  },
  async handle({ memberId, ...fields }, context) {
    const { stores, caller, now, record } = context;
    const member = await stores.teams.lockMember(caller.orgId, memberId);
    const before = toMemberRecord(member);
    const phoneBefore = member.phone;
    const isNumberChanged = fields.phone !== undefined && fields.phone !== phoneBefore;
    const change = { before: phoneBefore, after: isNumberChanged ? (fields.phone ?? null) : phoneBefore };
    await requireMayEnterNumber(context, caller, member.userId, change);
    Object.assign(member, fields);
    await stores.teams.saveMember(member, now);
    await notifyOfNumberChange(context, caller, member.userId, change, context.configuredChannels);
    // Two numbers may look the same once they are masked.
    const phoneChange = isNumberChanged ? { phoneChanged: true } : {};
    record({ target: member.id, before, after: { ...toMemberRecord(member), ...phoneChange } });
    return await readMember(member, context);
  },
});

const CONTACT = toContactView(MEMBER_EXAMPLE);

/** Does what `update_team_member` does, but refuses to overwrite a change made since the editor read it. */
export const editTeamMember = defineOperation({
  name: 'edit_team_member',
  summary:
    'Change the phone and the channels of a team member, unless somebody else has changed the same since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    memberId: IdText,
    phone: Type.Optional(nullable(Phone)),
    ...CHANNEL_SWITCHES,
    basedOn: ContactRead,
  }),
  result: MemberView,
  conflict: 'somebody has changed the same since it was read',
  example: { memberId: MEMBER_EXAMPLE.memberId, ...CONTACT, smsEnabled: false, basedOn: CONTACT },
  async handle({ memberId, basedOn, ...wanted }, context) {
    const member = await context.stores.teams.lockMember(context.caller.orgId, memberId);
    const changes = changesSince(basedOn, toContactView(member), wanted, 'how this person is reached');
    return await updateTeamMember.handle({ memberId, ...changes }, context, undefined);
  },
});

/** Swaps both members, or neither; others who move at the same time wait for each other. */
export const moveTeamMember = defineOperation({
  name: 'move_team_member',
  summary:
    'Move a member of a team one place up or down. The first stays where they are when moved up, as does the last.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ teamId: IdText, memberId: IdText, to: Type.Enum(['up', 'down']) }),
  result: Type.Object({ memberIds: Type.Array(IdText, { description: 'all of the team, in their order' }) }),
  example: { to: 'up' },
  async handle({ teamId, memberId, to }, { stores, caller, now, record }) {
    const team = await stores.teams.lock(caller.orgId, teamId);
    const members = await stores.teams.listMembers(caller.orgId, [team.id]);
    const place = members.findIndex(({ id }) => id === memberId);
    const moved = members[place];
    if (moved === undefined) throw notFound('memberId', 'member of this team');
    const order = members.toSpliced(place, 1).toSpliced(Math.max(0, place + (to === 'up' ? -1 : 1)), 0, moved);
    for (const [sortOrder, { id }] of order.entries()) {
      if (order[sortOrder]?.sortOrder === sortOrder) continue;
      const member = await stores.teams.lockMember(caller.orgId, id);
      const before = toMemberRecord(member);
      member.sortOrder = sortOrder;
      await stores.teams.saveMember(member, now);
      record({ target: member.id, before, after: toMemberRecord(member) });
    }
    return { memberIds: order.map(({ id }) => id) };
  },
});
