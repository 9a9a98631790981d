import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { type ChannelHealth, deliveryQuery } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Page } from '#console/components/page.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNEL_DECLARATIONS, PROVIDERS } from '#modules/contacts/decide/channel.ts';

const REFRESH_MS = 15_000;

/** Page on whether each channel can deliver messages. */
export function Delivery() {
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery({ ...deliveryQuery(org.orgId), refetchInterval: REFRESH_MS });
  return (
    <Page title="Delivery" lead="Whether this server can send messages to people." isNarrow>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={260} radius="lg" />}
      {data !== undefined && (
        <Card
          rows={data.channels.map((health) => (
            <Channel key={health.channel} health={health} />
          ))}
        />
      )}
      {data !== undefined && (
        <Card
          title="Time zones"
          rows={
            <Row
              title={`Rules of release ${data.timeZoneRules.used}`}
              sub={data.timeZoneRules.fault ?? 'Hand-overs and maintenance are computed by them.'}
            >
              {data.timeZoneRules.fault !== null && <Status tone="amber">old</Status>}
            </Row>
          }
        />
      )}
    </Page>
  );
}

function Channel({ health }: { readonly health: ChannelHealth }) {
  const { channel, configured, state, via, lastSucceededAt, lastFailedAt, lastFailure, fault } = health;
  return (
    <Row
      icon={<ChannelIcon channel={channel} size={20} />}
      title={CHANNEL_DECLARATIONS[channel].title}
      sub={
        configured ? (
          <>
            <div>Sent {via === null ? '' : PROVIDERS[via]}.</div>
            {state === 'simulated' && (
              <div>
                It wakes nobody: to reach phones, the administrator of this server has to set{' '}
                {CHANNEL_DECLARATIONS[channel].settings}.
              </div>
            )}
            {fault !== null && <div>{fault}</div>}
            {lastSucceededAt !== null && (
              <div>
                The last message was accepted <Timestamp at={lastSucceededAt} />.
              </div>
            )}
            {lastFailedAt !== null && (
              <div>
                The last failure was <Timestamp at={lastFailedAt} />
                {lastFailure !== null && `: ${reasonOf(lastFailure)}`}.
              </div>
            )}
          </>
        ) : (
          `Not set up. The administrator of this server has to set ${CHANNEL_DECLARATIONS[channel].settings}.`
        )
      }
    >
      <Health health={health} />
    </Row>
  );
}

const STATES: Record<ChannelHealth['state'], readonly [tone: Tone, word: string]> = {
  not_configured: ['gray', 'not set up'],
  simulated: ['amber', 'simulated'],
  unused: ['gray', 'not used yet'],
  works: ['green', 'works'],
  failing: ['red', 'failing'],
};

function Health({ health: { state, fault } }: { readonly health: ChannelHealth }) {
  if (fault !== null && state !== 'failing') return <Status tone="amber">needs attention</Status>;
  const [tone, word] = STATES[state];
  return <Status tone={tone}>{word}</Status>;
}
