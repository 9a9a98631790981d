import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import type { OpenCounts, Service } from '#console/api/actions.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { type ServiceHealth, serviceHealthQuery, serviceSearchQuery } from '#console/api/services.ts';
import type { ServiceFilter } from '#console/pages/services/service_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { SERVICES_PAGE } from '#modules/pages/decide/page_reads.ts';

/** Most services with open incidents, which stand before the others. */
const ATTENTION_MAX = 50;
const REFRESH_MS = 60_000;

const mostUrgentFirst = (a: OpenCounts, b: OpenCounts): number =>
  b.triggered - a.triggered || b.acknowledged - a.acknowledged;

/** Returns the services in the order of the list: those with open incidents, then all others by name, page by page. */
export function useServices({ text, team }: Pick<ServiceFilter, 'text' | 'team'>) {
  const { orgId } = useOrganization().org;
  const search = useInfiniteQuery({
    ...serviceSearchQuery(orgId, {
      limit: SERVICES_PAGE,
      ...(text !== undefined && { text }),
      ...(team !== undefined && { ownedBy: team }),
    }),
    placeholderData: keepPreviousData,
  });
  const open = useQuery(openByServiceQuery(orgId));
  const openOf = useMemo(() => new Map(open.data?.services.map((counts) => [counts.serviceId, counts])), [open.data]);
  const urgentIds = useMemo(
    () =>
      text === undefined && team === undefined
        ? [...openOf.values()]
            .toSorted(mostUrgentFirst)
            .slice(0, ATTENTION_MAX)
            .map(({ serviceId }) => serviceId)
        : [],
    [openOf, text, team],
  );
  const urgent = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds: urgentIds, limit: ATTENTION_MAX }),
    enabled: urgentIds.length > 0,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => {
    const byId = new Map(
      (urgentIds.length === 0 ? undefined : urgent.data)?.pages
        .flatMap((page) => page.services)
        .map((service) => [service.serviceId, service]),
    );
    const first = urgentIds.flatMap((serviceId) => byId.get(serviceId) ?? []);
    const all = search.data?.pages.flatMap((page) => page.services) ?? [];
    const others = all.filter(({ serviceId }) => !byId.has(serviceId));
    return [...first, ...uniqueByIds(others)];
  }, [search.data, urgent.data, urgentIds]);
  return {
    rows,
    total: search.data?.pages[0]?.total ?? 0,
    openOf,
    healthOf: useHealth(rows),
    isLoading: search.isPending || open.isLoading || urgent.isLoading,
    error: search.data === undefined ? search.error : null,
    refetch: () => void search.refetch(),
    hasMore: search.hasNextPage,
    loadMore: () => {
      if (search.hasNextPage && !search.isFetchingNextPage) void search.fetchNextPage();
    },
  };
}

function uniqueByIds(services: readonly Service[]): Service[] {
  return [...new Map(services.map((service) => [service.serviceId, service])).values()];
}

/** Returns the health of each row; it is requested by the hundred. */
function useHealth(rows: readonly Service[]): ReadonlyMap<string, ServiceHealth> {
  const { orgId } = useOrganization().org;
  const ids = rows.map(({ serviceId }) => serviceId);
  const batches = Array.from({ length: Math.ceil(ids.length / SERVICES_PAGE) }, (_, index) =>
    ids.slice(index * SERVICES_PAGE, (index + 1) * SERVICES_PAGE),
  );
  const answers = useQueries({
    queries: batches.map((batch) => ({ ...serviceHealthQuery(orgId, batch), refetchInterval: REFRESH_MS })),
  });
  return new Map(answers.flatMap(({ data }) => data?.services ?? []).map((health) => [health.serviceId, health]));
}
