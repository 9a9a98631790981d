import type { QueryClient } from '@tanstack/react-query';

import type { InputOf } from '#console/api/actions.ts';
import { homeQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { refreshTimelines } from '#console/api/on_call.ts';
import { actionQuery, onCallQuery } from '#console/api/queries.ts';
import { refreshTeamPages } from '#console/api/team_pages.ts';

/** Query of teams to choose from, by name or by their ids. */
export const teamNamesQuery = (orgId: string, search: InputOf<'search_team_names'>) =>
  actionQuery(orgId, 'teams', 'search_team_names', search);

/** Updates the cached data after these teams, or their parts, have changed. */
export async function refreshTeams(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  // Queries that depend on all teams.
  for (const query of [homeQuery(orgId), pagingProblemsQuery(orgId)]) {
    void queryClient.invalidateQueries({ queryKey: query.queryKey });
  }
  for (const id of ids) void queryClient.invalidateQueries({ queryKey: onCallQuery(orgId, id).queryKey });
  void refreshTimelines(queryClient, orgId, ids);
  await refreshTeamPages(queryClient, orgId);
}
