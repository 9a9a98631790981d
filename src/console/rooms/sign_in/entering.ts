import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';

import { type Session, sessionQuery } from '#console/api/session.ts';

/** Goes in with a new session, to where the person wanted to be. Nothing of whoever was here before is kept. */
export function useEnter(): (session: Session, next?: string) => Promise<void> {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async (session, next = '/') => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    // Left to the router as a whole, since it may carry a query of its own.
    router.history.push(`${router.basepath.replace(/\/+$/, '')}${next}`);
    await router.load();
  };
}
