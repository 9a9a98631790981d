import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface DashboardDialogProps {
  readonly dashboardId: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function DeleteDashboard({ dashboardId, name, onClose }: DashboardDialogProps) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const deleting = useMutation({
    mutationFn: () => invoke(orgId, 'delete_dashboard', { dashboardId }),
    async onSuccess() {
      onClose();
      await navigate({ to: '/dashboards' });
      await refresh('dashboards');
      showSuccess(named`${name} is deleted`);
    },
  });
  return (
    <Confirm
      title={named`Delete ${name}?`}
      button="Delete"
      saving={deleting}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      The dashboard is deleted for everybody. This cannot be undone. The metrics that it shows are kept.
    </Confirm>
  );
}
