import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

import { isApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';

const TRIES_MAX = 2;
/** What could not be loaded because the server was away is asked for again, without anybody pressing a button. */
const ASK_AGAIN_MS = 5_000;

const isOutage = (error: unknown): boolean => isApiError(error) && error.isOutage;

/** `onSignedOut` is called when the server no longer knows who asks: the session has ended meanwhile. */
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
        // What was refused once is refused again; only a server that is away may come back.
        retry: (failures, error) => isOutage(error) && failures < TRIES_MAX,
        refetchInterval: ({ state }) => (isOutage(state.error) ? ASK_AGAIN_MS : false),
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
