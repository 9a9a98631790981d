import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { toMemberRecord } from '#modules/teams/view.ts';

export const removeTeamMember = defineAction({
  name: 'remove_team_member',
  summary:
    'Remove a member from an on-call team. Schedules and policies that name the user stay as they are: change those as well.',
  guidance: 'Ask your user first.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ memberId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), memberId: IdText }),
  example: { memberId: IDS.memberId },
  exampleResult: { deleted: true, memberId: IDS.memberId },
  async handle({ memberId }, { stores, caller, record }) {
    const member = await stores.teams.lockMember(caller.orgId, memberId);
    record({ target: member.id, before: toMemberRecord(member), after: null });
    await stores.teams.deleteMember(member);
    return { deleted: true as const, memberId: member.id };
  },
});
