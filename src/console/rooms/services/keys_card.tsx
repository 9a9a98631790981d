import { Button, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card } from '#console/parts/card.tsx';
import { CopyField } from '#console/parts/copy_field.tsx';
import { Failure } from '#console/parts/failure.tsx';
import classes from '#console/rooms/services/keys_card.module.css';
import { useRevealedKeys } from '#console/rooms/services/revealed_keys.ts';
import { SNIPPETS } from '#console/rooms/services/snippets.ts';

/** The credentials that the service sends with, and how it begins. */
export function KeysCard({ service }: { readonly service: ServiceWithKeys }) {
  const [kind, setKind] = useState('node');
  const { keys, error, isPending, reveal, hide } = useRevealedKeys(service.serviceId);
  const { ingestionKey, dsn } = keys ?? service;
  const snippet = SNIPPETS[kind];
  return (
    <Card
      title="Send data"
      about="These only send: they read nothing and invoke no action. What they send can page people, so showing them is recorded in the audit log."
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
      {error !== null && keys === null && <Failure title="The keys are not shown" error={error} onRetry={reveal} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <CopyField label="Ingestion key" value={ingestionKey} isMasked={keys === null} />
        <CopyField label="DSN" value={dsn} isMasked={keys === null} />
      </SimpleGrid>
      <div className={classes.snippet}>
        <div className={classes.top}>
          <Text size="sm" fw={560}>
            Set up
          </Text>
          <div className={classes.tabs}>
            <SegmentedControl
              size="xs"
              aria-label="Set up for"
              value={kind}
              onChange={setKind}
              data={Object.entries(SNIPPETS).map(([value, { label }]) => ({ value, label }))}
            />
          </div>
        </div>
        {/* Scrolled sideways by keyboard, too. */}
        <pre className={classes.code} tabIndex={0} aria-label={`Set up for ${snippet?.label}`}>
          {snippet?.text({ dsn, ingestionKey })}
        </pre>
      </div>
    </Card>
  );
}
