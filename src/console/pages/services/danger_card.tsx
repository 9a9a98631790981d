import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { revealedKeysKey } from '#console/pages/services/use_revealed_keys.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Card of changes that cannot be undone. Each asks for the name of the service. */
export function DangerCard({ service }: { readonly service: ServiceWithKeys }) {
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
      isPending={rotating.isPending}
      error={rotating.error}
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
      isPending={deleting.isPending}
      error={deleting.error}
      onConfirm={() => deleting.mutate({ serviceId })}
      onClose={onClose}
    >
      This also deletes its rules, incidents, exceptions, metrics and dashboards. It cannot be undone. Billing ends with
      the periods that are already paid.
    </Confirm>
  );
}
