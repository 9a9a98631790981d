import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';
import { TeamView, toTeamView } from '#actions/teams/view.ts';

export const updateTeam = defineAction({
  name: 'update_team',
  summary: 'Rename an on-call team.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ teamId: IdText, name: Name }, CLOSED),
  result: TeamView,
  async handle({ teamId, name }, { stores, caller, now, record }) {
    const team = await stores.teams.lock(caller.orgId, teamId);
    const before = toTeamView(team);
    team.name = name;
    await stores.teams.save(team, now);
    const after = toTeamView(team);
    record({ target: team.id, before, after });
    return after;
  },
});
