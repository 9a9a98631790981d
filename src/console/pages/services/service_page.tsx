import { Button, Skeleton, Stack } from '@mantine/core';
import { IconPencil, IconServerOff } from '@tabler/icons-react';
import { usePrefetchQuery, useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { Back } from '#console/components/back.tsx';
import type { ServiceWithKeys } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { ingestStatusQuery } from '#console/api/organization.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { maintenanceQuery } from '#console/api/rules.ts';
import {
  exceptionSettingsQuery,
  monitorsQuery,
  releaseHealthQuery,
  releasesQuery,
  serviceActivityQuery,
} from '#console/api/services.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Page } from '#console/components/page.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { CapabilitiesCard } from '#console/pages/services/capabilities_card.tsx';
import { DangerCard } from '#console/pages/services/danger_card.tsx';
import { ExceptionSettingsCard } from '#console/pages/services/exception_settings_card.tsx';
import { MaintenanceNotice } from '#console/pages/rules/maintenance_notice.tsx';
import { HealthCard } from '#console/pages/services/health_card.tsx';
import { IngestCard } from '#console/pages/services/ingest_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { MonitorsCard } from '#console/pages/services/monitors_card.tsx';
import { ReleasesCard } from '#console/pages/services/releases_card.tsx';
import { OtherToolsCard, RulesCard } from '#console/pages/services/rules_card.tsx';
import { FeedbackCard } from '#console/pages/services/feedback_card.tsx';
import { SessionsCard } from '#console/pages/services/sessions_card.tsx';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const AssignmentCard = lazyPart(() =>
  import('#console/pages/exceptions/triage/assignment_card.tsx').then((m) => m.AssignmentCard),
);

const EditService = lazyDialog(() => import('#console/pages/services/edit_service.tsx').then((m) => m.EditService));

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
      exceptionSettingsQuery(orgId, serviceId),
      releasesQuery(orgId, serviceId),
    ],
  });
  return parts.some(
    ({ isPending, fetchStatus, failureCount }) => isPending && fetchStatus === 'fetching' && failureCount === 0,
  );
}

function Service({ service, back }: { readonly service: ServiceWithKeys; readonly back: React.ReactNode }) {
  const { may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const { name, environment, scmOwner, scmRepo } = service;
  const repository = scmOwner !== null && scmRepo !== null ? `${scmOwner}/${scmRepo}` : scmRepo;
  const lead = [environment, repository].filter((text) => text !== null).join(', ');
  return (
    <Page
      title={name}
      above={back}
      lead={lead === '' ? undefined : lead}
      actions={
        may('services:edit') && (
          <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setIsEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      <MaintenanceNotice of={{ serviceId: service.serviceId }} />
      <HealthCard service={service} />
      <IngestCard service={service} />
      <SessionsCard serviceId={service.serviceId} />
      <FeedbackCard serviceId={service.serviceId} />
      <MonitorsCard service={service} />
      <RulesCard service={service} />
      <OtherToolsCard service={service} />
      <ExceptionSettingsCard service={service} />
      {service.capabilities.includes('exceptions') && <AssignmentCard serviceId={service.serviceId} />}
      {service.capabilities.includes('exceptions') && <ReleasesCard service={service} />}
      <KeysCard service={service} />
      <CapabilitiesCard service={service} />
      <DangerCard service={service} />
      {isEditing && <EditService service={service} onClose={() => setIsEditing(false)} />}
    </Page>
  );
}
