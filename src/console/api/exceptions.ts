import { type InfiniteData, type Query, type QueryClient } from '@tanstack/react-query';

import {
  actionQuery,
  type InputOf,
  invoke,
  pagedQuery,
  type ResultOf,
  topicKey,
  updateRows,
} from '#console/api/actions.ts';
import { LIVE_IDS_MAX } from '#modules/pages/decide/live_topics.ts';

export type ExceptionGroup = ResultOf<'browse_exception_groups'>['groups'][number];
export type ExceptionOverview = ResultOf<'get_exception_overview'>;
export type ExceptionEvent = ResultOf<'list_exception_events'>['events'][number];
export type DeployDay = ResultOf<'browse_exception_groups'>['deploys'][number];
export type GroupStatus = ExceptionGroup['status'];

type GroupPage = ResultOf<'browse_exception_groups'>;
export type GroupPages = InfiniteData<GroupPage, string | null>;

/** The filter and the order of a list of exception groups. */
export type GroupSearch = Omit<InputOf<'browse_exception_groups'>, 'cursor' | 'groupIds'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'exceptions'), 'browse_exception_groups'] as const;

export const groupSearchQuery = (orgId: string, search: GroupSearch) =>
  pagedQuery(orgId, 'exceptions', 'browse_exception_groups', search);

export const overviewQuery = (orgId: string, groupId: string) =>
  actionQuery(orgId, 'exceptions', 'get_exception_overview', { groupId });

export const originsQuery = (
  orgId: string,
  serviceId: string | undefined,
  search: Pick<InputOf<'list_exception_origins'>, 'environment' | 'release'> = {},
) => ({
  ...actionQuery(orgId, 'exceptions', 'list_exception_origins', {
    ...(serviceId !== undefined && { serviceId }),
    ...search,
  }),
  staleTime: 60_000,
});

/** Query of one event with the cursors of its neighbours. No live change reloads it while somebody reads it. */
export const eventQuery = (orgId: string, input: InputOf<'list_exception_events'>) => ({
  queryKey: ['org', orgId, 'exception_events', 'list_exception_events', input] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) => invoke(orgId, 'list_exception_events', input, signal),
  staleTime: Infinity,
});

/**
 * Updates the cached data after these groups have changed. Rows on the screen change where they are, so that nothing
 * moves under the finger; a group that is new to a list comes first if the list is sorted by time.
 */
export async function refreshExceptions(
  queryClient: QueryClient,
  orgId: string,
  ids: readonly string[],
): Promise<void> {
  const changed = new Set(ids);
  const lists = queryClient.getQueryCache().findAll({ queryKey: searchKey(orgId) });
  const isAbout = (input: unknown): boolean =>
    typeof input === 'object' && input !== null && Object.values(input).some((value) => changed.has(value));
  await Promise.all([
    queryClient.invalidateQueries({
      queryKey: topicKey(orgId, 'exceptions'),
      predicate: ({ queryKey }) => queryKey[3] !== 'browse_exception_groups' && isAbout(queryKey[4]),
    }),
    ...lists.map((list) => updateList(queryClient, orgId, list, ids)),
  ]);
}

async function updateList(queryClient: QueryClient, orgId: string, list: Query, ids: readonly string[]): Promise<void> {
  const { queryKey } = list;
  if (ids.length > LIVE_IDS_MAX) return await queryClient.invalidateQueries({ queryKey, exact: true });
  const search = queryKey[searchKey(orgId).length] as GroupSearch;
  await updateRows<GroupPages, GroupPage>(
    queryClient,
    list,
    () => invoke(orgId, 'browse_exception_groups', { ...search, groupIds: [...ids], limit: ids.length }),
    (pages, page) => withGroups(pages, new Set(ids), page, search),
  );
}

/** Returns the list after some groups have changed. `page` holds those that belong to the list now. */
export function withGroups(
  list: GroupPages,
  changed: ReadonlySet<string>,
  { groups, counts }: Pick<GroupPage, 'groups' | 'counts'>,
  { sort = 'last' }: Pick<GroupSearch, 'sort'>,
): GroupPages {
  const current = new Map(groups.map((group) => [group.groupId, group]));
  const shown = new Set(list.pages.flatMap((page) => page.groups.map(({ groupId }) => groupId)));
  const added = sort === 'last' || sort === 'first' ? groups.filter(({ groupId }) => !shown.has(groupId)) : [];
  const pages = list.pages.map((page, index) => {
    const kept = page.groups.flatMap((group) =>
      changed.has(group.groupId) ? (current.get(group.groupId) ?? []) : group,
    );
    return { ...page, counts, groups: index === 0 ? [...added, ...kept] : kept };
  });
  return { ...list, pages };
}
