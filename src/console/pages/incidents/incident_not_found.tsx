import { Button } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import { incidentQuery } from '#console/api/queries.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';

export function IncidentNotFound({ incidentId }: { readonly incidentId: string }) {
  return (
    <InOtherOrganization find={(client, orgId) => client.fetchQuery(incidentQuery(orgId, incidentId))}>
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
    </InOtherOrganization>
  );
}
