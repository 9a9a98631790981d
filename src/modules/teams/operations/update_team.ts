import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { TeamView, toTeamView, TEAM_EXAMPLE } from '#modules/teams/view.ts';

export const updateTeam = defineAction({
  name: 'update_team',
  summary: 'Rename an on-call team.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ teamId: IdText, name: Name }, STRICT),
  result: TeamView,
  example: { teamId: IDS.teamId, name: 'Payments and refunds' },
  exampleResult: { ...TEAM_EXAMPLE, name: 'Payments and refunds', updatedAt: '2027-02-01T13:20:11.046Z' },
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
