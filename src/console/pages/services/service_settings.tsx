import { Button, Skeleton } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { exceptionSettingsQuery } from '#console/api/services.ts';
import { Back } from '#console/components/back.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Page } from '#console/components/page.tsx';
import { Name } from '#console/components/text/name.tsx';
import { CapabilitiesCard } from '#console/pages/services/capabilities_card.tsx';
import { DangerCard } from '#console/pages/services/danger_card.tsx';
import { ExceptionSettingsCard } from '#console/pages/services/exception_settings_card.tsx';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { OtherToolsCard } from '#console/pages/services/rules_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const AssignmentCard = lazyPart(() =>
  import('#console/pages/exceptions/triage/assignment_card.tsx').then((m) => m.AssignmentCard),
);

const EditService = lazyDialog(() => import('#console/pages/services/edit_service.tsx').then((m) => m.EditService));

const route = getRouteApi('/inside/services/$serviceId/settings');

/** Page of how a service is set up: its name and team, keys, capabilities, what it leaves out. */
export function ServiceSettings() {
  const { serviceId } = route.useParams();
  const { orgId } = useOrganization().org;
  const { data, error, refetch } = useQuery(serviceQuery(orgId, serviceId));
  // Content below the card must not move when it arrives.
  const { isPending } = useQuery(exceptionSettingsQuery(orgId, serviceId));
  const above = (
    <Back to="/services/$serviceId" params={{ serviceId }}>
      {data?.name ?? 'Service'}
    </Back>
  );
  return (
    <Page title="Service settings" above={above}>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined || isPending ? (
        error === null && <Skeleton height={180} radius="lg" />
      ) : (
        <Cards service={data} />
      )}
    </Page>
  );
}

function Cards({ service }: { readonly service: ServiceWithKeys }) {
  const { may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const { name, environment, scmOwner, scmRepo, team } = service;
  const repository = scmOwner !== null && scmRepo !== null ? `${scmOwner}/${scmRepo}` : scmRepo;
  return (
    <>
      <Card
        title="About it"
        action={
          may('services:edit') && (
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setIsEditing(true)}>
              Edit
            </Button>
          )
        }
        rows={
          <>
            <Row title={<Name>{name}</Name>} sub={environment ?? 'No environment'} />
            <Row
              title={
                team === null ? (
                  'No team owns it'
                ) : (
                  <>
                    Owned by{' '}
                    <Link to="/oncall/teams/$teamId" params={{ teamId: team.teamId }}>
                      <Name>{team.name}</Name>
                    </Link>
                  </>
                )
              }
              sub="Lists show a team what belongs to its services. Who is paged is decided by rules and policies."
            />
            <Row title="Repository" sub={repository ?? 'None is linked.'} />
          </>
        }
      />
      <KeysCard service={service} />
      <CapabilitiesCard service={service} />
      <OtherToolsCard service={service} />
      <ExceptionSettingsCard service={service} />
      {service.capabilities.includes('exceptions') && <AssignmentCard serviceId={service.serviceId} />}
      <DangerCard service={service} />
      {isEditing && <EditService service={service} onClose={() => setIsEditing(false)} />}
    </>
  );
}
