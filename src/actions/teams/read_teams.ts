import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { PolicyView, toPolicyView } from '#actions/policies/view.ts';
import { ScheduleView, toScheduleView } from '#actions/schedules/view.ts';
import { MemberView, TEAM_FIELDS, toMemberView, toTeamView } from '#actions/teams/view.ts';
import type { TeamRow } from '#storage/postgres/team_store.ts';

/** A team with all that belongs to it. */
export const WholeTeamView = Type.Object({
  ...TEAM_FIELDS,
  members: Type.Array(MemberView, { description: 'in their order' }),
  schedules: Type.Array(ScheduleView, { description: 'oldest first' }),
  escalationPolicies: Type.Array(PolicyView, { description: 'oldest first' }),
});

/** In three queries, however many teams there are. */
export async function readTeams(
  teams: readonly TeamRow[],
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<Static<typeof WholeTeamView>[]> {
  const teamIds = teams.map(({ id }) => id);
  const byTeam = <Row extends { readonly teamId: string }>(rows: readonly Row[]) =>
    Map.groupBy(rows, ({ teamId }) => teamId);
  const members = byTeam(await stores.teams.listMembers(caller.orgId, teamIds));
  const schedules = byTeam(await stores.schedules.listOfTeams(caller.orgId, teamIds));
  const policies = byTeam(await stores.policies.listOfTeams(caller.orgId, teamIds));
  return teams.map((team) => ({
    ...toTeamView(team),
    members: (members.get(team.id) ?? []).map(toMemberView),
    schedules: (schedules.get(team.id) ?? []).map(toScheduleView),
    escalationPolicies: (policies.get(team.id) ?? []).map(toPolicyView),
  }));
}
