import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { updateTeam } from '#modules/teams/operations/update_team.ts';
import { TEAM_EXAMPLE, TeamView } from '#modules/teams/view.ts';

/** Does what `update_team` does, but refuses to overwrite a change made since the editor read it. */
export const renameTeam = defineAction({
  name: 'rename_team',
  consoleOnly: true,
  summary: 'Rename an on-call team, unless somebody else has renamed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    { teamId: IdText, name: Name, basedOn: Type.String({ maxLength: 500, description: 'the name that was read' }) },
    STRICT,
  ),
  result: TeamView,
  conflict: 'somebody has renamed the team since it was read',
  example: { teamId: TEAM_EXAMPLE.teamId, name: 'Payments and refunds', basedOn: TEAM_EXAMPLE.name },
  async handle({ teamId, name, basedOn }, context) {
    const team = await context.stores.teams.lock(context.caller.orgId, teamId);
    changesSince({ name: basedOn }, { name: team.name }, { name }, 'the name of this team');
    return await updateTeam.handle({ teamId, name }, context, undefined);
  },
});
