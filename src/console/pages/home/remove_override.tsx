import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { HomeSchedule } from '#console/api/home.ts';
import { topicKey } from '#console/api/queries.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess, showError } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Removes an override: the shift returns to the person in the rotation. */
export function useRemoveOverride(scheduleName: string) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (overrideId: string) => invoke(orgId, 'delete_schedule_override', { overrideId }),
    onSuccess: () => showSuccess(named`The override of ${scheduleName} is removed.`),
    onError: (error) => showError(named`The override of ${scheduleName} was not removed`, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') }),
  });
}

interface RemoveOverrideProps {
  readonly schedule: HomeSchedule;
  readonly overrideId: string;
  readonly onClose: () => void;
}

export function RemoveOverride({ schedule: { name, onCall }, overrideId, onClose }: RemoveOverrideProps) {
  const { userId } = useOrganization().session.user;
  const removing = useRemoveOverride(name);
  const who = onCall?.userId === userId ? 'You are' : named`${onCall?.name ?? 'Nobody'} is`;
  return (
    <Confirm
      title={named`Remove the override of ${name}?`}
      button="Remove"
      isPending={removing.isPending}
      error={removing.error}
      onConfirm={() => removing.mutate(overrideId, { onSuccess: onClose })}
      onClose={onClose}
    >
      {who} on call because of this override. Without it, pages go to the person in the rotation.
    </Confirm>
  );
}
