import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

import { isProblem } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';

const TRIES_MAX = 2;

/** `onSignedOut` is called when the server no longer knows who asks: the session has ended meanwhile. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const watch = (error: unknown): void => {
    if (!isProblem(error, 401)) return;
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
        retry: (failures, error) => isProblem(error) && error.isOutage && failures < TRIES_MAX,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
