import { useMutation } from '@tanstack/react-query';

import { type ActionName, type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

/** Runs an action that changes a service. Afterwards all data about services is reloaded. */
export function useServiceChange<Name extends ActionName>(action: Name, onDone?: (result: ResultOf<Name>) => void) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (input: InputOf<Name>) => invoke(orgId, action, input),
    onSuccess: async (result) => {
      onDone?.(result);
      await refresh('services');
    },
    // The form shows what the other person has saved beside the input.
    onError: (error) => (isApiError(error, 409) ? refresh('services') : undefined),
  });
}
