import type { QueryClient } from '@tanstack/react-query';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { homeQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { refreshTimelines } from '#console/api/on_call.ts';
import { onCallQuery, teamsQuery } from '#console/api/queries.ts';
import { refreshTeamPages } from '#console/api/team_pages.ts';

/** Updates the cached data after these teams, or what belongs to them, have changed. */
export async function refreshTeams(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  const { queryKey } = teamsQuery(orgId);
  // Answers that follow from all teams.
  for (const query of [homeQuery(orgId), pagingProblemsQuery(orgId)]) {
    void queryClient.invalidateQueries({ queryKey: query.queryKey });
  }
  for (const id of ids) void queryClient.invalidateQueries({ queryKey: onCallQuery(orgId, id).queryKey });
  void refreshTimelines(queryClient, orgId, ids);
  void refreshTeamPages(queryClient, orgId);
  const list = queryClient.getQueryCache().find({ queryKey, exact: true });
  if (list === undefined || !list.isActive() || list.state.data === undefined) {
    return await queryClient.invalidateQueries({ queryKey });
  }
  const { teams } = await invoke(orgId, 'find_teams', { teamIds: [...ids] });
  queryClient.setQueryData<ResultOf<'list_teams'>>(queryKey, (shown) => {
    if (shown === undefined) return shown;
    const current = new Map(teams.map((team) => [team.teamId, team]));
    const known = new Set(shown.teams.map(({ teamId }) => teamId));
    const kept = shown.teams.flatMap((team) => (ids.includes(team.teamId) ? (current.get(team.teamId) ?? []) : team));
    return { ...shown, teams: [...kept, ...teams.filter(({ teamId }) => !known.has(teamId))] };
  });
}
