import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/confirm.tsx';
import { named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { revealedKeysKey } from '#console/pages/services/use_revealed_keys.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** What cannot be undone: each asks for the name of the service. */
export function DangerCard({ service }: { readonly service: ServiceWithKeys }) {
  const { may } = useOrganization();
  const [asked, setAsked] = useState<'rotate' | 'delete' | null>(null);
  const close = () => setAsked(null);
  if (!may('services:edit')) return null;
  return (
    <Card
      title="What cannot be undone"
      rows={
        <>
          <Row title="Rotate the key and the DSN" sub="The current key and DSN stop working immediately.">
            <Button variant="default" onClick={() => setAsked('rotate')}>
              Rotate
            </Button>
          </Row>
          {may('services:delete') && (
            <Row title="Delete the service" sub="With its rules, incidents, exceptions, metrics and dashboards.">
              <Button color="red" variant="light" onClick={() => setAsked('delete')}>
                Delete
              </Button>
            </Row>
          )}
        </>
      }
    >
      {asked === 'rotate' && <Rotate service={service} onClose={close} />}
      {asked === 'delete' && <Delete service={service} onClose={close} />}
    </Card>
  );
}

interface AskedProps {
  readonly service: ServiceWithKeys;
  readonly onClose: () => void;
}

function Rotate({ service: { serviceId, name }, onClose }: AskedProps) {
  const queryClient = useQueryClient();
  const rotating = useServiceChange('rotate_ingest_key', () => {
    void queryClient.resetQueries({ queryKey: revealedKeysKey(serviceId) });
    showSuccess('A new key and DSN are in force. Give them to the service.');
    onClose();
  });
  return (
    <Confirm
      title="Rotate the key and the DSN?"
      name={name}
      button="Rotate"
      isPending={rotating.isPending}
      error={rotating.error}
      onConfirm={() => rotating.mutate({ serviceId })}
      onClose={onClose}
    >
      Until the service has the new ones, its metrics and exceptions are refused and lost.
    </Confirm>
  );
}

function Delete({ service: { serviceId, name }, onClose }: AskedProps) {
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
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate({ serviceId })}
      onClose={onClose}
    >
      Everything that belongs to it goes with it: rules, incidents, exceptions, metrics, dashboards. This cannot be
      undone. Billing ends with the periods that are paid.
    </Confirm>
  );
}
