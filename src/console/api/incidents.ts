import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';

import {
  actionQuery,
  agentWorkQuery,
  incidentQuery,
  type InputOf,
  invoke,
  pagedQuery,
  type ResultOf,
  topicKey,
  updateRows,
} from '#console/api/actions.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import type { searchIncidents } from '#modules/incidents/operations/search_incidents.ts';
import { LIVE_IDS_MAX } from '#modules/pages/decide/live_topics.ts';

const ORDER: readonly string[] = INCIDENT_STATUSES;

export type IncidentSearch = Omit<InputOf<'search_incidents'>, 'cursor' | 'incidentIds'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'incidents'), 'search_incidents'] as const;

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

type Page = Static<(typeof searchIncidents)['result']>;
type FoundIncident = Page['incidents'][number];

export type IncidentPages = InfiniteData<Page, string | null>;

/**
 * Returns the list after some incidents have changed. `rows` are the changed incidents that belong to the list now. A
 * row that comes after the loaded pages is left out; a later page brings it.
 */
export function withRows(
  list: IncidentPages,
  changed: ReadonlySet<string>,
  rows: readonly FoundIncident[],
): IncidentPages {
  const pages = list.pages.map((page) => ({
    ...page,
    incidents: page.incidents.filter(({ incidentId }) => !changed.has(incidentId)),
  }));
  for (const row of rows) insert(pages, row);
  return { ...list, pages };
}

function insert(pages: readonly Page[], row: FoundIncident): void {
  for (const page of pages) {
    const index = page.incidents.findIndex((other) => comesBefore(positionOf(row), positionOf(other)));
    if (index === -1) continue;
    page.incidents.splice(index, 0, row);
    return;
  }
  const last = pages.at(-1);
  if (last === undefined) return;
  if (last.nextCursor === null || comesBefore(positionOf(row), positionAt(last.nextCursor))) last.incidents.push(row);
}

/** Position of a row in the order of the server: by status, then the newest first. */
interface Position {
  readonly status: string;
  readonly atMs: number;
  readonly id: string;
}

function comesBefore(a: Position, b: Position): boolean {
  if (a.status !== b.status) return ORDER.indexOf(a.status) < ORDER.indexOf(b.status);
  return a.atMs > b.atMs || (a.atMs === b.atMs && a.id > b.id);
}

function positionOf({ incidentId, status, triggeredAt, resolvedAt }: FoundIncident): Position {
  const at = status === 'resolved' && resolvedAt !== null ? resolvedAt : triggeredAt;
  return { status, atMs: Date.parse(at), id: incidentId };
}

function positionAt(cursor: string): Position {
  const [status = '', at = '', id = ''] = cursor.split('.');
  return { status, atMs: Number(at), id };
}
