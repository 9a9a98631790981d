import { defineAction } from '#actions/action_context.ts';
import { Name, StrictObject } from '#actions/fields.ts';
import { TEAM_EXAMPLE, TeamView, toTeamView } from '#modules/teams/view.ts';

export const createTeam = defineAction({
  name: 'create_team',
  summary: 'Create an on-call team. It starts without members, schedules and policies.',
  guidance: 'Then add_team_member, create_schedule and create_escalation_policy.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ name: Name }),
  result: TeamView,
  example: { name: TEAM_EXAMPLE.name },
  exampleResult: TEAM_EXAMPLE,
  async handle({ name }, { stores, caller, now, record }) {
    const team = await stores.teams.insert(caller.orgId, name, now);
    const after = toTeamView(team);
    record({ target: team.id, before: null, after });
    return after;
  },
});
