import { useMutation, useQueryClient } from '@tanstack/react-query';

import { type ActionName, type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Runs an operation on one incident, after which the page shows the state of the server. */
export function useIncidentChange<Name extends ActionName>(operation: Name, incidentId: string) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (input: InputOf<Name>): Promise<ResultOf<Name>> => invoke(orgId, operation, input),
    // After a conflict, too: somebody else has changed it.
    onSettled: () => refreshIncidents(queryClient, orgId, [incidentId]),
  });
}
