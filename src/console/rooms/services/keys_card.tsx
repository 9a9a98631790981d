import { SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { useState } from 'react';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card } from '#console/parts/card.tsx';
import { CopyField, maskSecret } from '#console/parts/copy_field.tsx';
import classes from '#console/rooms/services/keys_card.module.css';
import { SNIPPETS } from '#console/rooms/services/snippets.ts';

/** The credentials that the service sends with, and how it begins. */
export function KeysCard({ service: { ingestionKey, dsn } }: { readonly service: ServiceWithKeys }) {
  const [kind, setKind] = useState('node');
  const snippet = SNIPPETS[kind];
  return (
    <Card title="Send data" about="These only send. They read nothing and invoke no action.">
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <CopyField label="Ingestion key" value={ingestionKey} mask={maskSecret(ingestionKey)} />
        <CopyField label="DSN" value={dsn} mask={dsn.replace(/\/\/[^@]+@/, `//${'•'.repeat(8)}@`)} />
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
          {snippet?.text({ dsn: hidden(dsn), ingestionKey: '<ingestion key>' })}
        </pre>
      </div>
    </Card>
  );
}

/** Over a shoulder the snippet gives nothing away; what is copied above does. */
function hidden(dsn: string): string {
  return dsn.replace(/\/\/[^@]+@/, '//<key>@');
}
