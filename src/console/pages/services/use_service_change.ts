import { useMutation, useQueryClient } from '@tanstack/react-query';

import { type ActionName, type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** An action that changes a service. Afterwards all data about services is loaded again. */
export function useServiceChange<Name extends ActionName>(action: Name, onDone?: (result: ResultOf<Name>) => void) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (input: InputOf<Name>) => invoke(orgId, action, input),
    onSuccess: async (result) => {
      onDone?.(result);
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'services') });
    },
    // What the other person has saved is shown beside what was entered here.
    onError: (error) =>
      isApiError(error, 409) ? queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'services') }) : undefined,
  });
}
