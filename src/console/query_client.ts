import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

import { isApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';

const RETRIES_MAX = 2;
/** What failed because the server was unavailable is loaded again without a click. */
const RETRY_MS = 5_000;

const isOutage = (error: unknown): boolean => isApiError(error) && error.isOutage;

/** `onSignedOut` is called when the server answers 401 because the session has ended. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const watch = (error: unknown): void => {
    if (!isApiError(error, 401)) return;
    if (!client.getQueryData(sessionQuery.queryKey)) return;
    client.setQueryData(sessionQuery.queryKey, null);
    onSignedOut();
  };
  const client = new QueryClient({
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
