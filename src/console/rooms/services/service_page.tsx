import { Button, Skeleton, Stack } from '@mantine/core';
import { IconArrowLeft, IconPencil, IconServerOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { isProblem } from '#console/api/http.ts';
import { serviceQuery } from '#console/api/queries.ts';
import { Blank } from '#console/parts/blank.tsx';
import { Failure } from '#console/parts/failure.tsx';
import { Page } from '#console/parts/page.tsx';
import incidentClasses from '#console/rooms/incidents/incident_page.module.css';
import { CapabilitiesCard } from '#console/rooms/services/capabilities_card.tsx';
import { DangerCard } from '#console/rooms/services/danger_card.tsx';
import { EditService } from '#console/rooms/services/edit_service.tsx';
import { IngestCard } from '#console/rooms/services/ingest_card.tsx';
import { KeysCard } from '#console/rooms/services/keys_card.tsx';
import { RulesCard } from '#console/rooms/services/rules_card.tsx';
import { useHere } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/services/$serviceId');

export function ServicePage() {
  const { serviceId } = route.useParams();
  const { org } = useHere();
  const { data, error, refetch } = useQuery(serviceQuery(org.orgId, serviceId));
  const back = (
    <Link to="/services" className={incidentClasses.back}>
      <IconArrowLeft size={16} aria-hidden /> Services
    </Link>
  );
  if (data !== undefined) return <Shown key={serviceId} service={data} back={back} />;
  return (
    <Page title="Service" above={back}>
      {isProblem(error, 404) && (
        <Blank icon={<IconServerOff size={24} />} title="This service is not here">
          It was deleted, or it belongs to another organization.
        </Blank>
      )}
      {error !== null && !isProblem(error, 404) && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && (
        <Stack>
          <Skeleton height={180} radius="lg" />
          <Skeleton height={180} radius="lg" />
        </Stack>
      )}
    </Page>
  );
}

function Shown({ service, back }: { readonly service: ServiceWithKeys; readonly back: React.ReactNode }) {
  const { may } = useHere();
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
      <CapabilitiesCard service={service} />
      <KeysCard service={service} />
      <IngestCard service={service} />
      <RulesCard service={service} />
      <DangerCard service={service} />
      {isEditing && <EditService service={service} onClose={() => setIsEditing(false)} />}
    </Page>
  );
}
