import { useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Credentials that a service sends data with. */
export type RevealedKeys = Pick<ResultOf<'reveal_ingest_key'>, 'ingestionKey' | 'dsn'>;

/** Key of revealed secrets, outside of every topic: live changes must not load secrets again. */
export const revealedKeysKey = (serviceId: string) => ['revealed_keys', serviceId] as const;

/**
 * Returns the credentials of a service, loaded only on request, because the audit log records each load. All components
 * that show them share one answer. It is dropped when the last of them unmounts.
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
