import { Button, Skeleton, Switch, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { type Capability, type ResultOf, serviceQuery, type ServiceWithKeys } from '#console/api/actions.ts';
import { exceptionSettingsQuery } from '#console/api/services.ts';
import { TextButton } from '#console/components/buttons.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { CAPABILITY_DESCRIPTIONS, CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconPencil } from '#console/icons.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';
import { FILTER_NAMES } from './filter_names.ts';
import { KeysCard } from './keys_card.tsx';
import { OtherToolsCard } from './rules_card.tsx';
import { revealedKeysKey } from './snippet.tsx';
import { useServiceChange } from './use_service_change.ts';

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

const Retention = lazyDialog(() => import('#console/pages/services/retention.tsx').then((m) => m.Retention));

type OpenDialog = { readonly what: 'enable' | 'disable' | 'retention'; readonly capability: Capability };

/** Card of the enabled capabilities, their price, their paid period, and how long data is kept. */
export function CapabilitiesCard({ service }: { readonly service: ServiceWithKeys }) {
  const { may, org } = useOrganization();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  return (
    <Card
      title="Capabilities"
      {...(org.showsPrices && {
        about: `${euroText(PRICE_EUR)} a month each; ${euroText(service.capabilities.length * PRICE_EUR)} for this service.`,
      })}
      rows={CAPABILITIES.map((capability) => {
        const isOn = service.capabilities.includes(capability);
        return (
          <Row
            key={capability}
            title={<Text fw={560}>{CAPABILITY_NAMES[capability]}</Text>}
            sub={
              <>
                {CAPABILITY_DESCRIPTIONS[capability]}.
                <div>
                  <Renewal service={service} capability={capability} /> Kept for {service.retentionDays[capability]}{' '}
                  days.{' '}
                  {may('services:edit') && (
                    <TextButton
                      onClick={() => setDialog({ what: 'retention', capability })}
                      aria-label={`Change how long ${CAPABILITY_NAMES[capability]} are kept`}
                    >
                      Change
                    </TextButton>
                  )}
                </div>
              </>
            }
          >
            {may('services:edit') ? (
              <Switch
                size="md"
                checked={isOn}
                aria-label={`${CAPABILITY_NAMES[capability]} enabled`}
                onChange={() => setDialog({ what: isOn ? 'disable' : 'enable', capability })}
              />
            ) : (
              <Status tone={isOn ? 'green' : 'gray'}>{isOn ? 'enabled' : 'not enabled'}</Status>
            )}
          </Row>
        );
      })}
    >
      {dialog?.what === 'retention' && <Retention service={service} capability={dialog.capability} onClose={close} />}
      {(dialog?.what === 'enable' || dialog?.what === 'disable') && (
        <Enablement
          service={service}
          capability={dialog.capability}
          isEnabling={dialog.what === 'enable'}
          onClose={close}
        />
      )}
    </Card>
  );
}

interface CapabilityProps {
  readonly service: ServiceWithKeys;
  readonly capability: Capability;
}

/** Text on when the current period ends, and whether it renews. */
function Renewal({ service: { billing, capabilities }, capability }: CapabilityProps) {
  const { showsPrices } = useOrganization().org;
  const period = billing.find((candidate) => candidate.capability === capability);
  const isOn = capabilities.includes(capability);
  if (!showsPrices || period === undefined || Date.parse(period.endsAt) < Date.now()) return null;
  return (
    <>
      {isOn ? 'Renews on ' : 'Paid until '}
      <Timestamp at={period.endsAt} format="date" />.
    </>
  );
}

function Enablement({
  service,
  capability,
  isEnabling,
  onClose,
}: CapabilityProps & { isEnabling: boolean; onClose: () => void }) {
  const { serviceId, name, billing } = service;
  const { showsPrices } = useOrganization().org;
  const changing = useServiceChange(isEnabling ? 'enable_capability' : 'disable_capability', onClose);
  const title = CAPABILITY_NAMES[capability];
  const paidUntil = billing.find(
    (period) => period.capability === capability && Date.parse(period.endsAt) > Date.now(),
  );
  return (
    <Confirm
      title={named`${isEnabling ? 'Enable' : 'Disable'} ${title} for ${name}?`}
      button={isEnabling ? 'Enable' : 'Disable'}
      isHarmless={isEnabling}
      saving={changing}
      onConfirm={() => changing.mutate({ serviceId, capability })}
      onClose={onClose}
    >
      {isEnabling ? (
        <>
          {!showsPrices
            ? 'From now on the service takes data of this kind.'
            : paidUntil === undefined
              ? `It costs ${euroText(PRICE_EUR)} a month, starting now, until you disable it.`
              : 'The current period is already paid. Nothing is charged now.'}
        </>
      ) : (
        <>
          New data of this kind is refused, and rules of this kind stop. Stored data is kept until its retention ends.
          {showsPrices && 'Billing ends at the next renewal'}
          {showsPrices && paidUntil !== undefined && (
            <>
              , <Timestamp at={paidUntil.endsAt} format="date" />
            </>
          )}
          .
        </>
      )}
    </Confirm>
  );
}
