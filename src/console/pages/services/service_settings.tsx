import { Button, Skeleton } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { type ResultOf, serviceQuery, type ServiceWithKeys } from '#console/api/actions.ts';
import { exceptionSettingsQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { CapabilitiesCard } from '#console/pages/services/capabilities_card.tsx';
import { FILTER_NAMES } from '#console/pages/services/filter_names.ts';
import { KeysCard } from '#console/pages/services/keys_card.tsx';
import { OtherToolsCard } from '#console/pages/services/rules_card.tsx';
import { revealedKeysKey } from '#console/pages/services/snippet.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
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

const EditExceptionSettings = lazyDialog(() =>
  import('#console/pages/services/edit_exception_settings.tsx').then((m) => m.EditExceptionSettings),
);

type Settings = ResultOf<'get_exception_settings'>;

/** Card of the exceptions that the service leaves out. */
function ExceptionSettingsCard({ service: { serviceId, capabilities } }: { readonly service: ServiceWithKeys }) {
  const { org, may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const isEnabled = capabilities.includes('exceptions');
  const { data } = useQuery({ ...exceptionSettingsQuery(org.orgId, serviceId), enabled: isEnabled });
  if (!isEnabled || data === undefined) return null;
  const { filters, patterns, secretNames } = data;
  return (
    <Card
      title="Noise and secrets"
      about="What is left out of the exceptions of this service. How many were left out stands on its page, under Incoming data."
      action={
        may('services:edit') && (
          <>
            <Button size="xs" variant="default" onClick={() => setIsEditing(true)} aria-label="Edit noise and secrets">
              Edit
            </Button>
            {isEditing && (
              <EditExceptionSettings serviceId={serviceId} settings={data} onClose={() => setIsEditing(false)} />
            )}
          </>
        )
      }
      rows={
        <>
          <Row
            title="Filters"
            sub={
              filters.length === 0 ? 'None: everything is kept.' : filters.map((name) => FILTER_NAMES[name]).join(', ')
            }
          />
          <Row title="Own patterns" sub={patterns.length === 0 ? 'None.' : patterns.join(' · ')} />
          <Row title="Spike protection" sub={spikeText(data)} />
          <Row
            title="Secret fields"
            sub={`Passwords, tokens, cookies and card numbers${secretNames.length === 0 ? '.' : `, ${secretNames.join(', ')}.`}`}
          />
        </>
      }
    />
  );
}

function spikeText({ eventsPerHour, learnsSpikes, learntPerHour }: Settings): string {
  const beyond = 'an hour; beyond it only exceptions that are new or have come back.';
  if (!learnsSpikes) {
    return eventsPerHour === null
      ? 'Off: however many come, all are kept.'
      : `Keeps ${countText(eventsPerHour, 'event')} ${beyond}`;
  }
  return learntPerHour === null
    ? 'Learns what is usual: until a day of traffic is known, all are kept.'
    : `Learnt from usual traffic: keeps ${countText(learntPerHour, 'event')} ${beyond}`;
}

/** Card of changes that cannot be undone. Each asks for the name of the service. */
function DangerCard({ service }: { readonly service: ServiceWithKeys }) {
  const { may } = useOrganization();
  const [dialog, setDialog] = useState<'rotate' | 'delete' | null>(null);
  const close = () => setDialog(null);
  if (!may('services:edit')) return null;
  return (
    <Card
      title="Danger zone"
      rows={
        <>
          <Row title="Rotate the key and the DSN" sub="The current key and DSN stop working immediately.">
            <Button variant="default" onClick={() => setDialog('rotate')}>
              Rotate
            </Button>
          </Row>
          {may('services:delete') && (
            <Row title="Delete the service" sub="With its rules, incidents, exceptions, metrics and dashboards.">
              <Button color="red" variant="light" onClick={() => setDialog('delete')}>
                Delete
              </Button>
            </Row>
          )}
        </>
      }
    >
      {dialog === 'rotate' && <Rotate service={service} onClose={close} />}
      {dialog === 'delete' && <Delete service={service} onClose={close} />}
    </Card>
  );
}

interface DangerDialogProps {
  readonly service: ServiceWithKeys;
  readonly onClose: () => void;
}

function Rotate({ service: { serviceId, name }, onClose }: DangerDialogProps) {
  const queryClient = useQueryClient();
  const rotating = useServiceChange('rotate_ingest_key', () => {
    void queryClient.resetQueries({ queryKey: revealedKeysKey(serviceId) });
    showSuccess('The new key and DSN are active. Configure the service with them.');
    onClose();
  });
  return (
    <Confirm
      title="Rotate the key and the DSN?"
      name={name}
      button="Rotate"
      saving={rotating}

      onConfirm={() => rotating.mutate({ serviceId })}
      onClose={onClose}
    >
      Until the service has the new ones, its metrics and exceptions are refused and lost.
    </Confirm>
  );
}

function Delete({ service: { serviceId, name }, onClose }: DangerDialogProps) {
  const navigate = useNavigate();
  const deleting = useServiceChange('delete_service', () => {
    showSuccess(named`${name} is deleted.`);
    void navigate({ to: '/services' });
  });
  return (
    <Confirm
      title={named`Delete ${name}?`}
      name={name}
      button="Delete"
      saving={deleting}

      onConfirm={() => deleting.mutate({ serviceId })}
      onClose={onClose}
    >
      This also deletes its rules, incidents, exceptions, metrics and dashboards. It cannot be undone. Billing ends with
      the periods that are already paid.
    </Confirm>
  );
}
