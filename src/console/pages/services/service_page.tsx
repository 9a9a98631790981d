import { Button, Skeleton, Stack } from '@mantine/core';
import { IconServerOff, IconSettings } from '@tabler/icons-react';
import { usePrefetchQuery, useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import { Back } from '#console/components/back.tsx';
import type { ServiceWithKeys } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { ingestStatusQuery } from '#console/api/organization.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { maintenanceQuery } from '#console/api/rules.ts';
import { monitorsQuery, releaseHealthQuery, releasesQuery, serviceActivityQuery } from '#console/api/services.ts';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { MaintenanceNotice } from '#console/pages/rules/maintenance_notice.tsx';
import { HealthCard } from '#console/pages/services/health_card.tsx';
import { IngestCard } from '#console/pages/services/ingest_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { MonitorsCard } from '#console/pages/services/monitors_card.tsx';
import { ExceptionsCard, OnCallCard, OpenIncidentsCard } from '#console/pages/services/overview/overview_cards.tsx';
import classes from '#console/pages/services/overview/overview.module.css';
import { ReleasesCard } from '#console/pages/services/releases_card.tsx';
import { OtherToolsCard, RulesCard } from '#console/pages/services/rules_card.tsx';
import { FeedbackCard } from '#console/pages/services/feedback_card.tsx';
import { SessionsCard } from '#console/pages/services/sessions_card.tsx';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const GoldenCharts = lazyPart(() =>
  import('#console/pages/services/overview/golden_charts.tsx').then((m) => m.GoldenCharts),
);

const route = getRouteApi('/inside/services/$serviceId');

export function ServicePage() {
  const { serviceId } = route.useParams();
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery(serviceQuery(org.orgId, serviceId));
  const isPartLoading = useArePartsLoading(serviceId);
  const back = <Back to="/services">Services</Back>;
  if (data !== undefined && !isPartLoading) return <Service key={serviceId} service={data} back={back} />;
  return (
    <Page title="Service" above={back}>
      {isApiError(error, 404) && (
        <InOtherOrganization find={(client, orgId) => client.fetchQuery(serviceQuery(orgId, serviceId))}>
          <EmptyState icon={<IconServerOff size={24} />} title="Service not found">
            It was deleted, or it belongs to an organization that you are not in.
          </EmptyState>
        </InOtherOrganization>
      )}
      {error !== null && !isApiError(error, 404) && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {error === null && (
        <Stack>
          <Skeleton height={180} radius="lg" />
          <Skeleton height={180} radius="lg" />
        </Stack>
      )}
    </Page>
  );
}

/**
 * Whether cards are loading whose height depends on their data: content below them must not move when it arrives. They
 * are fetched together with the service.
 */
function useArePartsLoading(serviceId: string): boolean {
  const { orgId } = useOrganization().org;
  usePrefetchQuery(serviceActivityQuery(orgId, serviceId));
  const parts = useQueries({
    queries: [
      maintenanceQuery(orgId, { serviceId }),
      openByServiceQuery(orgId),
      ingestStatusQuery(orgId, serviceId),
      monitorsQuery(orgId, serviceId),
      releaseHealthQuery(orgId, serviceId),
      releasesQuery(orgId, serviceId),
    ],
  });
  return parts.some(
    ({ isPending, fetchStatus, failureCount }) => isPending && fetchStatus === 'fetching' && failureCount === 0,
  );
}

function Service({ service, back }: { readonly service: ServiceWithKeys; readonly back: React.ReactNode }) {
  const { org, may } = useOrganization();
  const { serviceId, name, environment, scmOwner, scmRepo, team, capabilities } = service;
  const { data: ingest } = useQuery(ingestStatusQuery(org.orgId, serviceId));
  const hasSentMetrics = ingest !== undefined && ingest.metrics.lastSeenAt !== null;
  const hasSentNothing = ingest !== undefined && !hasSentMetrics && ingest.exceptions.lastSeenAt === null;
  const repository = scmOwner !== null && scmRepo !== null ? `${scmOwner}/${scmRepo}` : scmRepo;
  const lead = [environment, repository, team === null ? null : `owned by ${isolateBidi(team.name)}`]
    .filter((text) => text !== null)
    .join(', ');
  return (
    <Page
      title={name}
      above={back}
      lead={lead === '' ? undefined : lead}
      actions={
        <Button
          renderRoot={(props: object) => <Link to="/services/$serviceId/settings" params={{ serviceId }} {...props} />}
          variant="default"
          leftSection={<IconSettings size={16} />}
        >
          Settings
        </Button>
      }
    >
      <MaintenanceNotice of={{ serviceId }} />
      {hasSentNothing && <KeysCard service={service} />}
      {hasSentNothing && <OtherToolsCard service={service} />}
      <HealthCard service={service} />
      {may('oncall:view') && (
        <div className={classes.pair}>
          <OpenIncidentsCard serviceId={serviceId} />
          <OnCallCard serviceId={serviceId} />
        </div>
      )}
      {hasSentMetrics && may('dashboards:view') && <GoldenCharts serviceId={serviceId} />}
      {capabilities.includes('exceptions') && may('exceptions:view') && !hasSentNothing && (
        <div className={classes.pair}>
          <ExceptionsCard serviceId={serviceId} sort="first" />
          <ExceptionsCard serviceId={serviceId} sort="events" />
        </div>
      )}
      <MonitorsCard service={service} />
      <RulesCard service={service} />
      <IngestCard service={service} />
      <SessionsCard serviceId={serviceId} />
      {capabilities.includes('exceptions') && <ReleasesCard service={service} />}
      <FeedbackCard serviceId={serviceId} />
      <ManagedMark id={serviceId} />
    </Page>
  );
}
