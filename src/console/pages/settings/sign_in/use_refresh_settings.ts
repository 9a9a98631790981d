import { useQueryClient } from '@tanstack/react-query';

import { topicKey } from '#console/api/queries.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Returns the function that reads the settings of the organization again. */
export function useRefreshSettings(): () => Promise<void> {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return async () => await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'settings') });
}
