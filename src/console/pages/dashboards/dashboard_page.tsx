import { Button, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';

import { dashboardQuery } from '#console/api/dashboards.ts';
import { isApiError } from '#console/api/http.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { IconLayoutDashboard } from '#console/icons.ts';
import { rememberDashboard } from '#console/pages/dashboards/dashboard_start.ts';
import { LoadedDashboard } from '#console/pages/dashboards/loaded_dashboard.tsx';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/dashboards/$dashboardId');

export function DashboardPage() {
  const { dashboardId } = route.useParams();
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery(dashboardQuery(orgId, dashboardId));
  const isGone = isApiError(error, 404);
  useEffect(() => rememberDashboard(orgId, isGone ? null : dashboardId), [orgId, dashboardId, isGone]);
  if (isGone) {
    return (
      <Page title="Dashboard">
        <InOtherOrganization find={(client, orgId) => client.fetchQuery(dashboardQuery(orgId, dashboardId))}>
          <EmptyState
            icon={<IconLayoutDashboard size={24} />}
            title="This dashboard does not exist"
            actions={
              <Button component={Link} to="/dashboards" variant="default">
                All dashboards
              </Button>
            }
          >
            It was deleted, or it belongs to an organization that you are not in.
          </EmptyState>
        </InOtherOrganization>
      </Page>
    );
  }
  if (data === undefined) {
    return (
      <Page title="Dashboard">
        {error === null ? (
          <Skeleton height={420} radius="lg" />
        ) : (
          <ErrorAlert error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  return <LoadedDashboard key={dashboardId} dashboard={data} />;
}
