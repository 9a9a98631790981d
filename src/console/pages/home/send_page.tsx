import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { newRequestKey } from '#console/components/forms/form.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface SendPageProps {
  readonly serviceId: string;
  readonly policyId: string;
  readonly onClose: () => void;
}

/** Dialog that opens a real incident, which pages by the policy, and shows there what becomes of the page. */
export function SendPage({ serviceId, policyId, onClose }: SendPageProps) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [requestKey] = useState(newRequestKey);
  const sending = useMutation({
    mutationFn: () =>
      invoke(orgId, 'declare_incident', {
        serviceId,
        title: 'Test page: everything is fine',
        severity: 'info',
        escalationPolicyId: policyId,
        requestKey,
      }),
    async onSuccess({ incidentId }) {
      await refreshIncidents(queryClient, orgId, [incidentId]);
      await navigate({ to: '/incidents/$incidentId', params: { incidentId } });
    },
  });
  return (
    <Confirm
      title="Send a page?"
      button="Send the page"
      isHarmless
      saving={sending}
      onConfirm={() => sending.mutate()}
      onClose={onClose}
    >
      This opens an incident that pages the people on call now, as a real one would. Answer it from your phone, or
      acknowledge it on the page that opens.
    </Confirm>
  );
}
