import { type InfiniteData, type QueryClient } from '@tanstack/react-query';

import {
  actionQuery,
  type InputOf,
  invoke,
  pagedQuery,
  type ResultOf,
  type Service,
  serviceQuery,
  topicKey,
  updateRows,
} from '#console/api/actions.ts';
import { RELEASES_PAGE } from '#modules/pages/decide/page_queries.ts';

type ServiceSearch = Omit<InputOf<'search_services'>, 'cursor'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'services'), 'search_services'] as const;

export const serviceSearchQuery = (orgId: string, search: ServiceSearch = {}) =>
  pagedQuery(orgId, 'services', 'search_services', search);

type Found = ResultOf<'search_services'>;
type ServicePages = InfiniteData<Found, string | null>;

/** Updates the cached data after these services have changed. Lists on the screen fetch only these rows. */
export async function refreshServices(queryClient: QueryClient, orgId: string, ids: readonly string[]): Promise<void> {
  const lists = queryClient.getQueryCache().findAll({ queryKey: searchKey(orgId) });
  // All lists of this moment share one answer.
  let answer: Promise<Found> | null = null;
  const fetchChanged = (): Promise<Found> => {
    answer ??= invoke(orgId, 'search_services', { serviceIds: [...ids], limit: ids.length });
    return answer;
  };
  await Promise.all([
    ...ids.map((id) => queryClient.invalidateQueries({ queryKey: serviceQuery(orgId, id).queryKey })),
    ...lists.map(async (list) => {
      const search = list.queryKey[searchKey(orgId).length] as ServiceSearch;
      const isUnfiltered = Object.keys(search).every((field) => field === 'limit');
      await updateRows<ServicePages, Found>(queryClient, list, fetchChanged, (pages, { services }) => {
        const current = new Map(services.map((service) => [service.serviceId, service]));
        const shown = new Set(pages.pages.flatMap((page) => page.services.map(({ serviceId }) => serviceId)));
        const created = services.filter(({ serviceId }) => !shown.has(serviceId));
        if (created.length > 0 && !isUnfiltered) return null;
        return withServices(pages, new Set(ids), current, created);
      });
    }),
  ]);
}

/** Puts changed rows into the pages. Pages sort the rows themselves, so new rows can be appended. */
function withServices(
  data: ServicePages,
  changed: ReadonlySet<string>,
  current: ReadonlyMap<string, Service>,
  created: readonly Service[],
): ServicePages {
  const last = data.pages.length - 1;
  const pages = data.pages.map((page, index) => ({
    ...page,
    services: [
      ...page.services.flatMap((service) =>
        changed.has(service.serviceId) ? (current.get(service.serviceId) ?? []) : service,
      ),
      ...(index === last ? created : []),
    ],
  }));
  return { ...data, pages };
}

export type ServiceHealth = ResultOf<'get_service_health'>['services'][number];

export const serviceHealthQuery = (orgId: string, serviceIds: readonly string[]) =>
  actionQuery(orgId, 'services', 'get_service_health', { serviceIds: [...serviceIds] });

/** Query of what one service sent, hour by hour. */
export const serviceActivityQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_service_activity', { serviceId });

/** Query of who is on call for a service. It changes with the teams, too. */
export const serviceOnCallQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'teams', 'get_service_on_call', { serviceId });

export const releaseHealthQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'list_release_health', { serviceId });

/** Query of the feedback of the application's users. */
export const feedbackQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'list_feedback', { serviceId });

export const monitorsQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'list_monitors', { serviceId });

/** Query of the exceptions that a service leaves out. */
export const exceptionSettingsQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_exception_settings', { serviceId });

/** Query of the releases of a service, newest first. */
export const releasesQuery = (orgId: string, serviceId: string, { search = '', offset = 0 } = {}) =>
  actionQuery(orgId, 'services', 'list_releases', { serviceId, search, offset, limit: RELEASES_PAGE });

/** Query of the tools that send alerts of a service, and of its routes. */
export const alertSourcesQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'list_alert_sources', { serviceId });
