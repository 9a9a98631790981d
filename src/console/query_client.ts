import {
  type InvalidateOptions,
  type InvalidateQueryFilters,
  MutationCache,
  type Query,
  QueryCache,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';

import { isApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';

const RETRIES_MAX = 2;
/** Interval at which queries that failed because the server was unavailable are retried, in milliseconds. */
const RETRY_MS = 5_000;

const isOutage = (error: unknown): boolean => isApiError(error) && error.isOutage;

/** Query client that loses no change that becomes known while data is being read. */
class ConsoleQueryClient extends QueryClient {
  /**
   * Invalidates queries. A read that is under way may have been answered before the change, so it is followed by
   * another one. It is not cancelled: with a change every moment, none would ever end.
   */
  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const matching = this.getQueryCache().findAll(filters);
    const underWay = new Set(matching.filter(({ state }) => state.fetchStatus === 'fetching'));
    const whole = { ...options, cancelRefetch: false };
    const ended = [...underWay].map(async (query) => await query.promise?.catch(() => {}));
    await Promise.all([super.invalidateQueries<Key>(filters, whole), ...ended]);
    const again = matching.filter((query) => underWay.has(query) || (query.isActive() && wasDisplaced(query)));
    const refetchType = filters?.refetchType;
    await Promise.all(
      again.map(async ({ queryKey }) => {
        await super.invalidateQueries({ queryKey, exact: true, ...(refetchType && { refetchType }) }, whole);
      }),
    );
  }
}

/** Whether the next page of a list was loaded in place of the list itself. */
function wasDisplaced({ state }: Query): boolean {
  return state.fetchMeta?.fetchMore !== undefined;
}

/** Creates the query client. `onSignedOut` is called when the server answers 401 because the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const watch = (error: unknown): void => {
    if (!isApiError(error, 401)) return;
    if (!client.getQueryData(sessionQuery.queryKey)) return;
    client.setQueryData(sessionQuery.queryKey, null);
    onSignedOut();
  };
  const client = new ConsoleQueryClient({
    queryCache: new QueryCache({ onError: watch }),
    mutationCache: new MutationCache({ onError: watch }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        // Only an outage can pass by itself; a refusal would be repeated.
        retry: (failures, error) => isOutage(error) && failures < RETRIES_MAX,
        refetchInterval: ({ state }) => (isOutage(state.error) ? RETRY_MS : false),
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
