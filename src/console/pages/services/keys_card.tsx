import { Button, SimpleGrid } from '@mantine/core';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { IconEye, IconEyeOff } from '#console/icons.ts';
import { Snippet, useRevealedKeys } from '#console/pages/services/snippet.tsx';

/** Card of the credentials of the service, and how to start sending data. */
export function KeysCard({ service }: { readonly service: ServiceWithKeys }) {
  const { keys, error, isPending, reveal, hide } = useRevealedKeys(service.serviceId);
  const { ingestionKey, dsn } = keys ?? service;
  return (
    <Card
      title="Send data"
      about="These credentials can only send data: they cannot read anything or invoke actions. What they send can page people, so the audit log records each time they are shown."
      action={
        <Button
          variant="default"
          leftSection={keys === null ? <IconEye size={16} /> : <IconEyeOff size={16} />}
          loading={isPending}
          onClick={keys === null ? reveal : hide}
        >
          {keys === null ? 'Show keys' : 'Hide keys'}
        </Button>
      }
    >
      {error !== null && keys === null && (
        <ErrorAlert title="The keys could not be shown" error={error} onRetry={reveal} />
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <CopyField label="Ingestion key" value={ingestionKey} isMasked={keys === null} />
        <CopyField label="DSN" value={dsn} isMasked={keys === null} />
      </SimpleGrid>
      <Snippet masked={service} keys={keys} isPending={isPending} onReveal={reveal} />
    </Card>
  );
}
