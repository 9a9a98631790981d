import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { refreshExceptions } from '#console/api/exceptions.ts';
import { showError, showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface WatchButtonProps {
  readonly groupId: string;
  readonly isWatched: boolean;
}

/** Button that asks for one mail when a resolved exception comes back. */
export function WatchButton({ groupId, isWatched }: WatchButtonProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const watching = useMutation({
    mutationFn: () => invoke(orgId, 'watch_exception', { groupId, isWatched: !isWatched }),
    onError: (error) => showError('This was not changed', error),
    onSuccess: (done) =>
      showSuccess(done.isWatched ? 'You get one mail if it comes back.' : 'You are not told if it comes back.'),
    onSettled: () => refreshExceptions(queryClient, orgId, [groupId]),
  });
  return (
    <Button variant="default" aria-pressed={isWatched} loading={watching.isPending} onClick={() => watching.mutate()}>
      {isWatched ? 'You are told if it comes back' : 'Tell me if it comes back'}
    </Button>
  );
}
