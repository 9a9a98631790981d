import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { type IngestStatus, ingestStatusQuery } from '#console/api/organization.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { wholeNumberText } from '#console/components/text/time_text.ts';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Status } from '#console/components/status.tsx';
import { LIMITED_TEXTS, notKeptText, refusalText } from '#console/pages/services/refusal_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { noQuantilesText } from '#modules/metrics/decide/quantile.ts';

const REFRESH_MS = 15_000;
/** Time since the last data within which a service counts as sending, in milliseconds. */
const RECENT_MS = 10 * 60_000;

/** Card on whether data arrives, and what is refused. */
export function IngestCard({ service: { serviceId, capabilities } }: { readonly service: ServiceWithKeys }) {
  const { org } = useOrganization();
  const { data, error } = useQuery({ ...ingestStatusQuery(org.orgId, serviceId), refetchInterval: REFRESH_MS });
  if (error !== null && data === undefined) {
    return (
      <Card title="Incoming data">
        <ErrorAlert error={error} />
      </Card>
    );
  }
  if (data === undefined) return <Skeleton height={150} radius="lg" mt="lg" />;
  const {
    metrics,
    exceptions,
    refused,
    limited,
    typeChanges,
    withoutQuantiles,
    notKept,
    quarantinedEvents,
    quarantinedJobs,
  } = data;
  return (
    <Card
      title="Incoming data"
      rows={
        <>
          <Arrival
            title="Metrics"
            isEnabled={capabilities.includes('metrics')}
            lastSeenAt={metrics.lastSeenAt}
            rate={rateText(metrics.pointsLastHour, 'point')}
          />
          <Arrival
            title="Exceptions"
            isEnabled={capabilities.includes('exceptions')}
            lastSeenAt={exceptions.lastSeenAt}
            rate={rateText(exceptions.eventsLastHour, 'event')}
            isQuietGood
          />
          {refused.map((refusal) => (
            <Refusal key={`${refusal.kind} ${refusal.reason}`} refusal={refusal} />
          ))}
          {limited.map((limit) => (
            <Limited key={limit.limit} told={limit} />
          ))}
          {typeChanges.metrics.map((change) => (
            <TypeChange key={change.metricName} change={change} />
          ))}
          {withoutQuantiles.rules.map((asked) => (
            <WithoutQuantiles key={asked.ruleId} asked={asked} />
          ))}
          {withoutQuantiles.count > withoutQuantiles.rules.length && (
            <Row title={`and ${withoutQuantiles.count - withoutQuantiles.rules.length} more rules like these`} />
          )}
          {notKept.map((items) => (
            <NotKept key={`${items.kind} ${items.reason}`} items={items} />
          ))}
          {quarantinedEvents.events > 0 && (
            <Quarantine title={tooLongText(quarantinedEvents.events)} quarantine={quarantinedEvents} />
          )}
          {quarantinedJobs.items > 0 && (
            <Quarantine
              title={`Workers crashed while storing ${wholeNumberText(quarantinedJobs.items)} points or events`}
              quarantine={quarantinedJobs}
            />
          )}
        </>
      }
    />
  );
}

function rateText(count: number, singular: string): string {
  return `${wholeNumberText(count)} ${count === 1 ? singular : `${singular}s`} in the last hour`;
}

interface ArrivalProps {
  readonly title: string;
  readonly isEnabled: boolean;
  readonly lastSeenAt: string | null;
  readonly rate: string;
  /** Whether receiving nothing is the normal state. */
  readonly isQuietGood?: boolean;
}

function Arrival({ title, isEnabled, lastSeenAt, rate, isQuietGood = false }: ArrivalProps) {
  const isRecent = lastSeenAt !== null && Date.now() - Date.parse(lastSeenAt) < RECENT_MS;
  return (
    <Row
      title={title}
      sub={
        lastSeenAt === null ? (
          'Nothing has arrived yet.'
        ) : (
          <>
            Last seen <Timestamp at={lastSeenAt} />, {rate}.
          </>
        )
      }
    >
      {!isEnabled && <Status tone="gray">refused: not enabled</Status>}
      {isEnabled && lastSeenAt === null && <Status tone="gray">waiting</Status>}
      {isEnabled && lastSeenAt !== null && (
        <Status tone={isRecent || isQuietGood ? 'green' : 'amber'}>{isRecent ? 'receiving' : 'quiet'}</Status>
      )}
    </Row>
  );
}

function Limited({ told: { limit, count, lastAt } }: { readonly told: IngestStatus['limited'][number] }) {
  const { title, advice } = LIMITED_TEXTS[limit];
  return (
    <Row
      title={title(count)}
      sub={
        <>
          {advice} Most recently <Timestamp at={lastAt} />.
        </>
      }
    >
      <Status tone="amber">attention</Status>
    </Row>
  );
}

function TypeChange({ change }: { readonly change: IngestStatus['typeChanges']['metrics'][number] }) {
  const { metricName, type, before, lastAt } = change;
  return (
    <Row
      title={`${metricName} is now sent as ${article(type)}, before as ${article(before)}`}
      sub={
        <>
          Nothing was lost, but sums and rules over it may mean something else. Since <Timestamp at={lastAt} />.
        </>
      }
    >
      <Status tone="amber">type changed</Status>
    </Row>
  );
}

function WithoutQuantiles({ asked }: { readonly asked: IngestStatus['withoutQuantiles']['rules'][number] }) {
  const { ruleId, name, metricName, kind } = asked;
  return (
    <Row
      title={
        <>
          The rule{' '}
          <Link to="/rules/$ruleId" params={{ ruleId }}>
            <Name>{name}</Name>
          </Link>{' '}
          cannot fire
        </>
      }
      sub={`${noQuantilesText(isolateBidi(metricName), kind)}.`}
    >
      <Status tone="amber">no quantiles</Status>
    </Row>
  );
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function tooLongText(events: number): string {
  return `${wholeNumberText(events)} ${events === 1 ? 'event' : 'events'} took too long to read`;
}

interface QuarantineProps {
  readonly title: string;
  readonly quarantine: Pick<IngestStatus['quarantinedEvents'], 'since' | 'nextTryAt'>;
}

function Quarantine({ title, quarantine: { since, nextTryAt } }: QuarantineProps) {
  return (
    <Row
      title={title}
      sub={
        <>
          Quarantined <Timestamp at={since ?? ''} />, so that others do not wait. Next try{' '}
          <Timestamp at={nextTryAt ?? ''} />.
        </>
      }
    >
      <Status tone="amber">quarantined</Status>
    </Row>
  );
}

function NotKept({ items }: { readonly items: IngestStatus['notKept'][number] }) {
  return (
    <Row
      title={notKeptText(items)}
      sub={
        <>
          In the last 24 hours, most recently <Timestamp at={items.lastAt} />.
        </>
      }
    >
      <Status tone="gray">{items.reason.startsWith('client:') ? 'not sent' : 'not kept'}</Status>
    </Row>
  );
}

function Refusal({ refusal }: { readonly refusal: IngestStatus['refused'][number] }) {
  return (
    <Row
      title={refusalText(refusal)}
      sub={
        <>
          In the last 24 hours, most recently <Timestamp at={refusal.lastAt} />.
        </>
      }
    >
      <Status tone="amber">refused</Status>
    </Row>
  );
}
