import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';

import { invoke, topicKey } from '#console/api/actions.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Key of revealed alert keys, outside of every topic: live changes must not load secrets again. */
const revealedAlertKey = (serviceId: string) => ['revealed_alert_key', serviceId] as const;

/**
 * Returns the alert key of a service, loaded only on request, because the audit log records each load. The first request
 * makes the key. It is dropped when the last component that shows it unmounts.
 */
export function useAlertKey(serviceId: string) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const queryKey = revealedAlertKey(serviceId);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: async (): Promise<string> => {
      const { alertKey } = await invoke(orgId, 'show_alert_key', { serviceId });
      void queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'services') });
      return alertKey;
    },
    enabled: false,
    gcTime: 0,
  });
  return {
    alertKey: data ?? null,
    error,
    isPending: isFetching,
    /** Resolves to the key; throws what the server refused. */
    async reveal(): Promise<string> {
      return data ?? (await refetch({ throwOnError: true })).data ?? '';
    },
    hide: () => void queryClient.resetQueries({ queryKey }),
  };
}

/** Query of the last bodies of a source, outside of every topic: the audit log records each load. */
export const alertBodiesQuery = (orgId: string, sourceId: string) =>
  queryOptions({
    queryKey: ['alert_bodies', orgId, sourceId],
    queryFn: () => invoke(orgId, 'list_alert_bodies', { sourceId }),
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
