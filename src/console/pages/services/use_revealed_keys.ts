import { useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** The credentials with which a service sends. */
export type RevealedKeys = Pick<ResultOf<'reveal_ingest_key'>, 'ingestionKey' | 'dsn'>;

/** Belongs to no topic: news from the server must not ask for secrets again. */
export const revealedKeysKey = (serviceId: string) => ['revealed_keys', serviceId] as const;

/**
 * The credentials of a service, asked for only when somebody wants to see them, since each request is in the audit log.
 * Whatever shows them shares one answer, which is forgotten when the last of them leaves the page.
 */
export function useRevealedKeys(serviceId: string) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const queryKey = revealedKeysKey(serviceId);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }): Promise<RevealedKeys> => invoke(orgId, 'reveal_ingest_key', { serviceId }, signal),
    enabled: false,
    gcTime: 0,
  });
  return {
    keys: data ?? null,
    error,
    isPending: isFetching,
    reveal: () => void refetch(),
    hide: () => void queryClient.resetQueries({ queryKey }),
  };
}
