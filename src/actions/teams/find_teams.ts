import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { readTeams, toWholeTeamView, WholeTeamView } from '#actions/teams/read_teams.ts';
import { readWarnings } from '#actions/teams/warnings.ts';

export const findTeams = defineAction({
  name: 'find_teams',
  consoleOnly: true,
  summary: 'Return these teams as list_teams does; one that is not there is left out.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ teamIds: Type.Array(IdText, { maxItems: 50 }) }, CLOSED),
  result: Type.Object({ teams: Type.Array(WholeTeamView) }),
  example: { teamIds: ['team_01k9z8g5m6f0rbn3w8d2y7k4qf'] },
  async handle({ teamIds }, context) {
    const whole = await readTeams(await context.stores.teams.findAll(context.caller.orgId, teamIds), context);
    const warnings = await readWarnings(whole, context);
    return { teams: whole.map((team, index) => toWholeTeamView(team, warnings[index] ?? [], context)) };
  },
});
