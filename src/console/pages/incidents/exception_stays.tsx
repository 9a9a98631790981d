import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/actions.ts';
import { useSetStatus } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Says that the exception behind a resolved incident is still unresolved, and offers to resolve it as well. */
export function ExceptionStays({ groupId }: { readonly groupId: string }) {
  const { may } = useOrganization();
  const setting = useSetStatus();
  return (
    <Group gap="sm" mt="sm" justify="space-between">
      <span className="small">
        The incident is resolved, its exception is not: it may have another cause or a later fix.
      </span>
      {may('exceptions:edit') && (
        <Button
          variant="default"
          loading={setting.isPending}
          onClick={() => setting.mutate({ groupIds: [groupId], status: 'resolved' })}
        >
          Resolve the exception, too
        </Button>
      )}
    </Group>
  );
}

interface StaysTextProps {
  readonly orgId: string;
  readonly groupId: string;
}

/** Sentence of a notice about a resolved incident, with a link, while its exception is unresolved; notices are beside the pages. */
export function StaysText({ orgId, groupId }: StaysTextProps) {
  const { data } = useQuery(actionQuery(orgId, 'exceptions', 'get_exception_group', { groupId }));
  if (data?.status !== 'unresolved') return null;
  return (
    <>
      {' '}
      Its <a href={`exceptions/${groupId}`}>exception</a> stays unresolved.
    </>
  );
}
