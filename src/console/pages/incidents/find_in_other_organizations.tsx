import { Button, Skeleton } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';

import { incidentQuery } from '#console/api/queries.ts';
import { EmptyState } from '#console/components/empty_state.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Links in messages do not name the organization: this finds the right one for members of several. */
export function FindInOtherOrganizations({ incidentId }: { readonly incidentId: string }) {
  const { org, session, switchTo } = useOrganization();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  const answers = useQueries({ queries: others.map(({ orgId }) => incidentQuery(orgId, incidentId)) });
  const found = others[answers.findIndex(({ isSuccess }) => isSuccess)]?.orgId;
  useEffect(() => {
    if (found !== undefined) switchTo(found);
  }, [found, switchTo]);
  if (found !== undefined || answers.some(({ isPending }) => isPending)) return <Skeleton height={240} radius="lg" />;
  return (
    <EmptyState
      icon={<IconSearchOff size={24} />}
      title="Incident not found"
      actions={
        <Button component={Link} to="/incidents">
          All incidents
        </Button>
      }
    >
      Its service may have been deleted, it may be older than the retention of its service, or it belongs to an
      organization that you are not in.
    </EmptyState>
  );
}
