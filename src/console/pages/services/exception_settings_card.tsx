import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { ResultOf, ServiceWithKeys } from '#console/api/actions.ts';
import { exceptionSettingsQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { FILTER_NAMES } from '#console/pages/services/filter_names.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const EditExceptionSettings = lazyDialog(() =>
  import('#console/pages/services/edit_exception_settings.tsx').then((m) => m.EditExceptionSettings),
);

type Settings = ResultOf<'get_exception_settings'>;

/** Card of the exceptions that the service leaves out. */
export function ExceptionSettingsCard({ service: { serviceId, capabilities } }: { readonly service: ServiceWithKeys }) {
  const { org, may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const isEnabled = capabilities.includes('exceptions');
  const { data } = useQuery({
    ...exceptionSettingsQuery(org.orgId, serviceId),
    enabled: isEnabled,
  });
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
