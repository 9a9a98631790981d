import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, SafeInteger, STRICT } from '#actions/fields.ts';
import { notifyOfNumberChange, requireMayEnterNumber } from '#modules/teams/change_number.ts';
import {
  CHANNEL_SWITCHES,
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
  input: Type.Object(
    {
      memberId: IdText,
      phone: Type.Optional(nullable(Phone)),
      ...CHANNEL_SWITCHES,
      sortOrder: Type.Optional(SafeInteger),
    },
    STRICT,
  ),
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
