import {
  infiniteQueryOptions,
  keepPreviousData,
  type Query,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';

import { type ActionName, type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { dataOfPageAt, takeDataOfPage } from '#console/api/initial_data.ts';
import type { LiveTopic } from '#modules/pages/decide/live_topics.ts';

/** Topic of data that changes together. A key begins with organization and topic, so that a live change can name it. */
export type Topic = LiveTopic | 'me' | 'settings' | 'metrics';

export const topicKey = (orgId: string, topic: Topic) => ['org', orgId, topic] as const;

/** Query of a read action. Its first answer is taken from the page, if it holds it. */
export function actionQuery<Name extends ActionName>(orgId: string, topic: Topic, action: Name, input: InputOf<Name>) {
  return queryOptions({
    queryKey: [...topicKey(orgId, topic), action, input],
    queryFn: ({ signal }): Promise<ResultOf<Name>> => invoke(orgId, action, input, signal),
    initialData: () => takeDataOfPage(orgId, action, input) as ResultOf<Name> | undefined,
    initialDataUpdatedAt: dataOfPageAt,
  });
}

interface Page {
  readonly nextCursor: string | null;
}

type PagedAction = { [Name in ActionName]: ResultOf<Name> extends Page ? Name : never }[ActionName];

/** Query of a list that the server returns page by page. Its first answer is taken from the page, if it holds it. */
export function pagedQuery<Name extends PagedAction>(
  orgId: string,
  topic: Topic,
  action: Name,
  input: Omit<InputOf<Name>, 'cursor'>,
) {
  return infiniteQueryOptions({
    queryKey: [...topicKey(orgId, topic), action, input],
    queryFn: ({ pageParam, signal }): Promise<ResultOf<Name>> =>
      invoke(orgId, action, { ...input, ...(pageParam !== null && { cursor: pageParam }) } as InputOf<Name>, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last as Page).nextCursor,
    initialData: () => {
      const first = takeDataOfPage(orgId, action, input) as ResultOf<Name> | undefined;
      return first && { pages: [first], pageParams: [null] };
    },
    initialDataUpdatedAt: dataOfPageAt,
  });
}

/** Query of a searched list: the previous answer stays until the next one has arrived. */
export function searchedQuery<Name extends PagedAction>(
  orgId: string,
  topic: Topic,
  action: Name,
  input: Omit<InputOf<Name>, 'cursor'>,
) {
  return { ...pagedQuery(orgId, topic, action, input), placeholderData: keepPreviousData };
}

export const incidentQuery = (orgId: string, incidentId: string) =>
  actionQuery(orgId, 'incidents', 'get_incident', { incidentId });
/** Query of what agents do about an incident, and what they ask. */
export const agentWorkQuery = (orgId: string, incidentId: string) =>
  actionQuery(orgId, 'incidents', 'get_agent_work', { incidentId });
export const serviceQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_service', { serviceId });
export const onCallQuery = (orgId: string, teamId: string) => actionQuery(orgId, 'teams', 'who_is_on_call', { teamId });

/**
 * Fetches the changed rows of a list, and puts them in. A list that is not shown, or that is being read or is out of
 * date anyway, is invalidated as a whole. So is one that was written meanwhile, because it is unknown which of the
 * answers is the newer one.
 */
export async function updateRows<List, Rows>(
  queryClient: QueryClient,
  list: Query,
  fetchRows: () => Promise<Rows>,
  /** Returns the list with these rows; null if it has to be reloaded as a whole. */
  put: (shown: List, rows: Rows) => List | null,
): Promise<void> {
  const { queryKey } = list;
  const isReady = ({ state }: Query) =>
    state.data !== undefined && state.fetchStatus === 'idle' && !state.isInvalidated && state.error === null;
  const updates = list.state.dataUpdateCount;
  if (list.isActive() && isReady(list)) {
    const rows = await fetchRows().catch((error: unknown) => {
      if (isApiError(error)) return null;
      throw error;
    });
    if (rows !== null && isReady(list) && list.state.dataUpdateCount === updates) {
      const updated = put(list.state.data as List, rows);
      if (updated !== null) {
        queryClient.setQueryData<List>(queryKey, () => updated);
        return;
      }
    }
  }
  await queryClient.invalidateQueries({ queryKey, exact: true });
}
