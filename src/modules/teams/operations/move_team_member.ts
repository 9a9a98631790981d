import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toMemberRecord } from '#modules/teams/view.ts';
import { notFound } from '#kernel/errors.ts';

/** Swaps both members, or neither; others who move at the same time wait for each other. */
export const moveTeamMember = defineAction({
  name: 'move_team_member',
  consoleOnly: true,
  summary:
    'Move a member of a team one place up or down. The first stays where they are when moved up, as does the last.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ teamId: IdText, memberId: IdText, to: Type.Enum(['up', 'down']) }, STRICT),
  result: Type.Object({ memberIds: Type.Array(IdText, { description: 'all of the team, in their order' }) }),
  example: { teamId: EXAMPLE_IDS.teamId, memberId: EXAMPLE_IDS.memberId, to: 'up' },
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
