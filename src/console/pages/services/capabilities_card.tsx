import { Switch, Text } from '@mantine/core';
import { useState } from 'react';

import type { Capability, ServiceWithKeys } from '#console/api/actions.ts';
import { CAPABILITY_DESCRIPTIONS, CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { named } from '#console/components/text/name.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';

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
