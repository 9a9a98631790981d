import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { toContactView } from '#modules/contacts/contact_view.ts';
import { CHANNEL_SWITCHES, ContactRead, MEMBER_EXAMPLE, MemberView, Phone } from '#modules/teams/view.ts';
import { updateTeamMember } from '#modules/teams/operations/update_team_member.ts';

const CONTACT = toContactView(MEMBER_EXAMPLE);

/** Does what `update_team_member` does, but refuses to overwrite a change made since the editor read it. */
export const editTeamMember = defineAction({
  name: 'edit_team_member',
  consoleOnly: true,
  summary:
    'Change the phone and the channels of a team member, unless somebody else has changed the same since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    { memberId: IdText, phone: Type.Optional(nullable(Phone)), ...CHANNEL_SWITCHES, basedOn: ContactRead },
    STRICT,
  ),
  result: MemberView,
  conflict: 'somebody has changed the same since it was read',
  example: {
    memberId: MEMBER_EXAMPLE.memberId,
    ...CONTACT,
    smsEnabled: false,
    basedOn: CONTACT,
  },
  async handle({ memberId, basedOn, ...wanted }, context) {
    const member = await context.stores.teams.lockMember(context.caller.orgId, memberId);
    const changes = changesSince(basedOn, toContactView(member), wanted, 'how this person is reached');
    return await updateTeamMember.handle({ memberId, ...changes }, context, undefined);
  },
});
