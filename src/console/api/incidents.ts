import { type Query, type QueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { type IncidentPages, withRows } from '#console/api/incident_pages.ts';
import { actionQuery, agentWorkQuery, incidentQuery, pagedQuery, topicKey } from '#console/api/queries.ts';
import { updateRows } from '#console/api/update_rows.ts';
import { LIVE_IDS_MAX } from '#modules/pages/decide/live_topics.ts';

/** The filter of a list of incidents. */
export type IncidentSearch = Omit<InputOf<'search_incidents'>, 'cursor' | 'incidentIds'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'incidents'), 'search_incidents'] as const;

/** Query of a list of incidents, loaded page by page. */
export const incidentSearchQuery = (orgId: string, search: IncidentSearch) =>
  pagedQuery(orgId, 'incidents', 'search_incidents', search);

/** Query of the number of incidents by status: of the whole organization, or of those that match the filter. */
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
    ...ids.map((id) => queryClient.invalidateQueries(agentWorkQuery(orgId, id))),
    ...lists.map((list) => updateList(queryClient, orgId, list, ids)),
  ]);
}

async function updateList(
  queryClient: QueryClient,
  orgId: string,
  list: Query,
  incidentIds: readonly string[],
): Promise<void> {
  const { queryKey } = list;
  if (incidentIds.length > LIVE_IDS_MAX) return await queryClient.invalidateQueries({ queryKey, exact: true });
  const search = queryKey[searchKey(orgId).length] as IncidentSearch;
  const changed = { ...search, incidentIds: [...incidentIds], limit: incidentIds.length };
  await updateRows<IncidentPages, ResultOf<'search_incidents'>>(
    queryClient,
    list,
    () => invoke(orgId, 'search_incidents', changed),
    (pages, { incidents }) => withRows(pages, new Set(incidentIds), incidents),
  );
}
