import { Button, Group } from '@mantine/core';
import { useState } from 'react';

import { Card, Row } from '#console/components/card.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import type { Source, SourcesOfService } from '#console/pages/alert_sources/route_draft.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const EditSource = lazyDialog(() => import('#console/pages/alert_sources/edit_source.tsx').then((m) => m.EditSource));
const EditMapping = lazyDialog(() =>
  import('#console/pages/alert_sources/edit_mapping.tsx').then((m) => m.EditMapping),
);
const Bodies = lazyDialog(() => import('#console/pages/alert_sources/bodies.tsx').then((m) => m.Bodies));

type Opened = 'settings' | 'mapping' | 'bodies';

interface SourcesCardProps {
  readonly sources: SourcesOfService;
  /** Called to show the lines and the test of a source. */
  onConnect(source: Source): void;
}

/** Card of the tools that have sent something. */
export function SourcesCard({ sources: { sources }, onConnect }: SourcesCardProps) {
  return (
    <Card
      title="Sources"
      about="Each tool that has sent something with the key of this service."
      rows={sources.map((source) => (
        <SourceRow key={source.sourceId} source={source} onConnect={() => onConnect(source)} />
      ))}
    />
  );
}

function SourceRow({ source, onConnect }: { readonly source: Source; readonly onConnect: () => void }) {
  const { may } = useOrganization();
  const [opened, setOpened] = useState<Opened | null>(null);
  const { tool, lastAlertAt, lastRefusedAt } = source;
  const isRefused = lastRefusedAt !== null && (lastAlertAt === null || lastRefusedAt > lastAlertAt);
  const close = () => setOpened(null);
  const button = (part: Opened, label: string) => (
    <Button variant="default" size="xs" onClick={() => setOpened(part)} aria-label={`${label} of ${tool}`}>
      {label}
    </Button>
  );
  return (
    <Row
      title={
        <>
          <Name>{tool}</Name>{' '}
          {isRefused ? (
            <Status tone="red">refused</Status>
          ) : (
            lastAlertAt !== null && <Status tone="green">receiving</Status>
          )}
        </>
      }
      sub={
        <>
          {source.unreadableSettings && 'Some settings cannot be read, and defaults apply: set them again. '}
          <SourceFacts source={source} />
        </>
      }
    >
      <Group gap="xs">
        <Button variant="default" size="xs" onClick={onConnect} aria-label={`Lines and test of ${tool}`}>
          Lines and test
        </Button>
        {may('oncall:edit') && button('settings', 'Settings')}
        {source.protocol === 'webhook' && may('oncall:edit') && may('services:edit') && button('mapping', 'Mapping')}
        {may('services:edit') && button('bodies', 'Last bodies')}
      </Group>
      {opened === 'settings' && <EditSource source={source} onClose={close} />}
      {opened === 'mapping' && <EditMapping source={source} onClose={close} />}
      {opened === 'bodies' && <Bodies source={source} onClose={close} />}
    </Row>
  );
}

function SourceFacts({ source }: { readonly source: Source }) {
  const { lastAlertAt, alertsLastHour, alertsLastDay, accepted, refused, lastRefusedAt, lastRefusal } = source;
  return (
    <>
      <div>
        {lastAlertAt === null ? (
          'No alert yet'
        ) : (
          <>
            Last alert <Timestamp at={lastAlertAt} />
          </>
        )}
        {`; ${countText(alertsLastHour, 'alert')} within the hour, ${alertsLastDay.toLocaleString()} within the day; `}
        {`${countText(accepted, 'event')} in all`}
      </div>
      {lastRefusedAt !== null && (
        <div>
          {`${countText(refused, 'request')} refused, the last one `}
          <Timestamp at={lastRefusedAt} />
          {lastRefusal !== null && (
            <>
              : <bdi>{lastRefusal}</bdi>
            </>
          )}
        </div>
      )}
    </>
  );
}
