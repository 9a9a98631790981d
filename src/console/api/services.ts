import { type InfiniteData, infiniteQueryOptions, type QueryClient } from '@tanstack/react-query';

import { type InputOf, invoke, type ResultOf, type Service } from '#console/api/actions.ts';
import { serviceQuery, topicKey } from '#console/api/queries.ts';

type ServiceSearch = Omit<InputOf<'search_services'>, 'cursor'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'services'), 'search_services'] as const;

/** Services by name, loaded page by page. */
export const serviceSearchQuery = (orgId: string, search: ServiceSearch = {}) =>
  infiniteQueryOptions({
    queryKey: [...searchKey(orgId), search],
    queryFn: ({ pageParam, signal }) =>
      invoke(orgId, 'search_services', { ...search, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

type ServicePages = InfiniteData<ResultOf<'search_services'>, string | null>;

/** Brings what is shown up to date after these services have changed: lists that show them fetch these rows only. */
export async function refreshServices(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  const lists = queryClient.getQueryCache().findAll({ queryKey: searchKey(orgId) });
  const { services } = lists.some((list) => list.isActive())
    ? await invoke(orgId, 'search_services', { serviceIds: [...ids], limit: ids.length })
    : { services: [] };
  const now = new Map(services.map((service) => [service.serviceId, service]));
  await Promise.all([
    ...ids.map((id) => queryClient.invalidateQueries({ queryKey: serviceQuery(orgId, id).queryKey })),
    ...lists.map(async (list) => {
      const { queryKey } = list;
      const shown = (list.state.data as ServicePages | undefined)?.pages.flatMap((page) => page.services) ?? [];
      const made = services.filter(({ serviceId }) => shown.every((service) => service.serviceId !== serviceId));
      const search = queryKey[searchKey(orgId).length] as ServiceSearch;
      const isOfAll = search.text === undefined && search.serviceIds === undefined;
      if (!list.isActive() || (made.length > 0 && !isOfAll))
        return await queryClient.invalidateQueries({ queryKey, exact: true });
      queryClient.setQueryData<ServicePages>(queryKey, (data) => data && withServices(data, new Set(ids), now, made));
    }),
  ]);
}

/** Rooms sort the rows themselves, so that new ones may stand anywhere. */
function withServices(
  data: ServicePages,
  changed: ReadonlySet<string>,
  now: ReadonlyMap<string, Service>,
  made: readonly Service[],
): ServicePages {
  const last = data.pages.length - 1;
  const pages = data.pages.map((page, index) => ({
    ...page,
    services: [
      ...page.services.flatMap((service) =>
        changed.has(service.serviceId) ? (now.get(service.serviceId) ?? []) : service,
      ),
      ...(index === last ? made : []),
    ],
  }));
  return { ...data, pages };
}
