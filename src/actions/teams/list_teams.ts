import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED } from '#actions/fields.ts';
import { readTeams, toWholeTeamView, WholeTeamView } from '#actions/teams/read_teams.ts';
import { readWarnings } from '#actions/teams/warnings.ts';

export const listTeams = defineAction({
  name: 'list_teams',
  summary: 'List the on-call teams with members, schedules and escalation policies: the source of their ids.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ teams: Type.Array(WholeTeamView) }),
  async handle(_input, context) {
    const teams = await context.stores.teams.list(context.caller.orgId, LIST_LIMIT);
    const whole = await readTeams(teams, context);
    const warnings = await readWarnings(whole, context);
    return { teams: whole.map((team, index) => toWholeTeamView(team, warnings[index] ?? [])) };
  },
});
