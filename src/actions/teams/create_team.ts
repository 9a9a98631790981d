import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, Name } from '#actions/fields.ts';
import { TeamView, toTeamView } from '#actions/teams/view.ts';

export const createTeam = defineAction({
  name: 'create_team',
  summary: 'Create an on-call team. It starts without members, schedules and policies.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ name: Name }, CLOSED),
  result: TeamView,
  async handle({ name }, { stores, caller, now, record }) {
    const team = await stores.teams.insert(caller.orgId, name, now);
    const after = toTeamView(team);
    record({ target: team.id, before: null, after });
    return after;
  },
});
