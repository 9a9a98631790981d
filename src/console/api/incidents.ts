import { infiniteQueryOptions, type Query, type QueryClient } from '@tanstack/react-query';

import { type InputOf, invoke } from '#console/api/actions.ts';
import { type IncidentPages, withRows } from '#console/api/incident_pages.ts';
import { actionQuery, incidentQuery, topicKey } from '#console/api/queries.ts';
import { LIVE_IDS_MAX } from '#core/console/live_topics.ts';

/** The filter of a list of incidents. */
export type IncidentSearch = Omit<InputOf<'search_incidents'>, 'cursor' | 'incidentIds'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'incidents'), 'search_incidents'] as const;

/** A list of incidents, loaded page by page. */
export const incidentSearchQuery = (orgId: string, search: IncidentSearch) =>
  infiniteQueryOptions({
    queryKey: [...searchKey(orgId), search],
    queryFn: ({ pageParam, signal }) =>
      invoke(orgId, 'search_incidents', { ...search, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** The number of incidents by status: of the whole organization, or of what matches the filter. */
export const incidentCountsQuery = (orgId: string, filter: InputOf<'count_incidents'> = {}) =>
  actionQuery(orgId, 'incidents', 'count_incidents', filter);

export const openByServiceQuery = (orgId: string) => actionQuery(orgId, 'incidents', 'count_incidents_by_service', {});

const COUNTS = ['count_incidents', 'count_incidents_by_service'] as const;

/**
 * Updates the cached data after these incidents have changed. Lists on the screen fetch only these rows; other lists
 * are loaded when they are shown again.
 */
export async function refreshIncidents(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  const lists = queryClient.getQueryCache().findAll({ queryKey: searchKey(orgId) });
  await Promise.all([
    ...COUNTS.map((name) => queryClient.invalidateQueries({ queryKey: [...topicKey(orgId, 'incidents'), name] })),
    ...ids.map((id) => queryClient.invalidateQueries(incidentQuery(orgId, id))),
    ...lists.map((list) => refreshList(queryClient, orgId, list, ids)),
  ]);
}

async function refreshList(
  queryClient: QueryClient,
  orgId: string,
  list: Query,
  incidentIds: readonly string[],
): Promise<void> {
  const { queryKey, state } = list;
  const isFew = incidentIds.length <= LIVE_IDS_MAX;
  if (!isFew || !list.isActive() || state.data === undefined || state.fetchStatus === 'fetching') {
    return await queryClient.invalidateQueries({ queryKey, exact: true });
  }
  try {
    const search = queryKey[searchKey(orgId).length] as IncidentSearch;
    const { incidents } = await invoke(orgId, 'search_incidents', {
      ...search,
      incidentIds: [...incidentIds],
      limit: incidentIds.length,
    });
    const changed = new Set(incidentIds);
    queryClient.setQueryData<IncidentPages>(queryKey, (pages) => pages && withRows(pages, changed, incidents));
  } catch {
    await queryClient.invalidateQueries({ queryKey, exact: true });
  }
}
