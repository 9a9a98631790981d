import { Type } from 'typebox';

import { changesSince, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, StrictObject } from '#actions/fields.ts';
import { TEAM_EXAMPLE, TeamView, toTeamView } from '#modules/teams/view.ts';

export const updateTeam = defineAction({
  name: 'update_team',
  summary: 'Rename an on-call team.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ teamId: IdText, name: Name }),
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

/** Does what `update_team` does, but refuses to overwrite a change made since the editor read it. */
export const renameTeam = defineOperation({
  name: 'rename_team',
  summary: 'Rename an on-call team, unless somebody else has renamed it since it was read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    teamId: IdText,
    name: Name,
    basedOn: Type.String({ maxLength: 500, description: 'the name that was read' }),
  }),
  result: TeamView,
  conflict: 'somebody has renamed the team since it was read',
  example: { teamId: TEAM_EXAMPLE.teamId, name: 'Payments and refunds', basedOn: TEAM_EXAMPLE.name },
  async handle({ teamId, name, basedOn }, context) {
    const team = await context.stores.teams.lock(context.caller.orgId, teamId);
    changesSince({ name: basedOn }, { name: team.name }, { name }, 'the name of this team');
    return await updateTeam.handle({ teamId, name }, context, undefined);
  },
});
