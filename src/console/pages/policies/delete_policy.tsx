import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import type { PolicyDetails } from '#console/api/teams.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface DeletePolicyProps {
  readonly policy: PolicyDetails;
  readonly onClose: () => void;
}

export function DeletePolicy({ policy: { policyId, name, ruleCount }, onClose }: DeletePolicyProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_escalation_policy', { policyId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      onClose();
      await navigate({ to: '/oncall/policies' });
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
  });
  const rules = `${ruleCount} ${ruleCount === 1 ? 'rule that uses it stays and pages' : 'rules that use it stay and page'}`;
  return (
    <Confirm
      title={named`Delete ${name}?`}
      {...(ruleCount > 0 && { name })}
      button="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      {ruleCount === 0 ? 'No rule uses it.' : `The ${rules} nobody until another policy is chosen.`} Open incidents keep
      the steps that they began with. This cannot be undone.
    </Confirm>
  );
}
