import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import type { TeamDetails } from '#console/api/teams.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface DeleteTeamProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

export function DeleteTeam({ team: { teamId, name, schedules, policies }, onClose }: DeleteTeamProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_team', { teamId }),
    async onSuccess() {
      showSuccess(named`${name} is deleted.`);
      onClose();
      await navigate({ to: '/oncall/teams' });
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'teams') });
    },
  });
  const parts = [
    `${schedules.length} ${schedules.length === 1 ? 'schedule' : 'schedules'}`,
    `${policies.length} ${policies.length === 1 ? 'escalation policy' : 'escalation policies'}`,
  ];
  return (
    <Confirm
      title={named`Delete ${name}?`}
      name={name}
      button="Delete"
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      Its {parts.join(' and its ')} go with it. Alert rules that use one of these policies stay and page nobody until
      another is chosen. Its members stay in the organization. This cannot be undone.
    </Confirm>
  );
}
