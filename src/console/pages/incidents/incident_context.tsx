import { Button, Skeleton } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import { actionQuery, incidentQuery, type IncidentWithLog, type ResultOf } from '#console/api/actions.ts';
import { TextButton } from '#console/components/buttons.tsx';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Status, STATUS_TONES } from '#console/components/status.tsx';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconSearchOff } from '#console/icons.ts';
import { InOtherOrganization } from '#console/shell/in_other_organization.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { type Around, byNearness, joinOpened } from '#modules/incidents/decide/around.ts';
import { measureOf, measureOfRate, quantityText } from '#modules/metrics/decide/quantity.ts';

type Context = ResultOf<'get_incident_context'>;

const useContext = (incidentId: string) =>
  useQuery({
    ...actionQuery(useOrganization().org.orgId, 'incidents', 'get_incident_context', { incidentId }),
    staleTime: 60_000,
  });

/** Similar incidents before, and metrics that moved. */
export function IncidentContext({ incident }: { readonly incident: IncidentWithLog }) {
  const { data, error } = useContext(incident.incidentId);
  if (error !== null && data === undefined)
    return <ErrorAlert error={error} title="Similar incidents could not be loaded" />;
  if (data === undefined) return null;
  return (
    <>
      <Similar similar={data.similar} />
      <MovedMetrics incident={incident} />
    </>
  );
}

/** Card of what else happened around the incident, where it is looked for after its cause. */
export function AroundIncident({ incident }: { readonly incident: IncidentWithLog }) {
  const { data, error } = useContext(incident.incidentId);
  if (data !== undefined) return <Around incident={incident} context={data} />;
  return (
    <Card title="What else happened">{error === null ? <Skeleton height={120} /> : <ErrorAlert error={error} />}</Card>
  );
}

function Similar({ similar }: Pick<Context, 'similar'>) {
  const { count, incidents, medianSecondsToAcknowledge, medianSecondsToResolve } = similar;
  if (count === 0) return <Card title="Similar incidents" about="None in the last 90 days." />;
  const facts = [
    `${count >= 200 ? 'at least ' : ''}${count.toLocaleString()} in the last 90 days`,
    ...(medianSecondsToAcknowledge === null
      ? []
      : [`usually acknowledged after ${durationText(medianSecondsToAcknowledge * 1000)}`]),
    ...(medianSecondsToResolve === null ? [] : [`over after ${durationText(medianSecondsToResolve * 1000)}`]),
  ];
  return (
    <Card
      title="Similar incidents"
      about={`${facts.join(', ')}.`}
      rows={incidents.map(({ incidentId, number, title, status, triggeredAt, resolvedAt, resolvedBy }) => (
        <Row
          key={incidentId}
          title={<IncidentLink incidentId={incidentId} title={title} />}
          sub={
            <>
              #{number}, <Timestamp at={triggeredAt} format="date_time" />
              {resolvedAt !== null && resolvedBy !== null && (
                <>
                  , resolved by <Name>{resolvedBy}</Name> after{' '}
                  {durationText(Date.parse(resolvedAt) - Date.parse(triggeredAt))}
                </>
              )}
            </>
          }
        >
          <Status tone={STATUS_TONES[status]}>{status}</Status>
        </Row>
      ))}
    />
  );
}

/** Marks which of the items are of the own service: those stand first. */
const ofService = <Item,>(items: readonly Item[], { ofService: count }: Context['newGroupTotals']) =>
  items.map((item, index) => ({ ...item, isOwn: index < count }));

interface AroundProps {
  readonly incident: Pick<IncidentWithLog, 'serviceId' | 'triggeredAt'>;
  readonly context: Context;
}

/** Number of entries that are shown at first. */
const SHOWN_FIRST = 5;

/** List of changes, new exceptions and other incidents: those of the own service and the minutes before first. */
function Around({ incident: { serviceId, triggeredAt }, context }: AroundProps) {
  const [isWhole, setIsWhole] = useState(false);
  const { changes, newGroups, newGroupTotals, releases, neighbours, neighbourTotals } = context;
  const { groups, others } = joinOpened(ofService(newGroups, newGroupTotals), ofService(neighbours, neighbourTotals));
  const entries: (Omit<Around, 'atMs'> & { readonly at: string; readonly key: string; readonly row: ReactNode })[] = [
    ...changes.map(({ at, action, act, by, target, targetName }) => ({
      at,
      isOwn: true,
      key: `${at} ${action} ${target}`,
      row: (
        <>
          <Name>{by}</Name>: {act}
          {targetName !== null && (
            <>
              {' '}
              <ChangedThing target={target}>{targetName}</ChangedThing>
            </>
          )}
        </>
      ),
    })),
    ...groups.map(({ groupId, title, serviceName, release, at, isOwn, opened }) => ({
      at,
      isOwn,
      key: groupId,
      row: (
        <>
          New exception in <Name>{serviceName}</Name>
          {release !== null && (
            <>
              , release <Name>{release}</Name>
            </>
          )}
          :{' '}
          <Link to="/exceptions/$groupId" params={{ groupId }}>
            <Sentence>{title}</Sentence>
          </Link>
          {opened !== null && (
            <>
              {', '}
              <Link to="/incidents/$incidentId" params={{ incidentId: opened.incidentId }}>
                incident #{opened.number}
              </Link>
            </>
          )}
        </>
      ),
    })),
    ...releases.map(({ release, environment, at }) => ({
      at,
      isOwn: true,
      key: `release ${release} ${environment ?? ''} ${at}`,
      row: (
        <>
          {environment === null ? 'First exception of release' : 'Deployed:'}{' '}
          <Link to="/exceptions" search={{ service: serviceId, release, status: 'all' }}>
            <Name>{release}</Name>
          </Link>
          {environment !== null && (
            <>
              {' '}
              to <Name>{environment}</Name>
            </>
          )}
        </>
      ),
    })),
    ...others.map(({ incidentId, number, title, serviceName, triggeredAt: at, isOwn }) => ({
      at,
      isOwn,
      key: incidentId,
      row: (
        <>
          Incident #{number} in <Name>{serviceName}</Name>: <IncidentLink incidentId={incidentId} title={title} />
        </>
      ),
    })),
  ];
  const more = [
    moreText(changes, { ofService: context.changeTotal, elsewhere: 0 }, 'change'),
    moreText(releases, { ofService: context.releaseTotal, elsewhere: 0 }, 'release'),
    moreText(newGroups, newGroupTotals, 'new exception'),
    moreText(neighbours, neighbourTotals, 'other incident'),
  ].flatMap((text) => text ?? []);
  if (entries.length === 0) {
    return <Card title="What else happened" about="Nothing was changed shortly before, and nothing else broke." />;
  }
  const ordered = byNearness(
    entries.map((entry) => ({ ...entry, atMs: Date.parse(entry.at) })),
    Date.parse(triggeredAt),
  );
  const shown = isWhole ? ordered : ordered.slice(0, SHOWN_FIRST);
  return (
    <Card
      title="What else happened"
      about="Of this service first, the nearest first: changes and deploys of the two hours before, exceptions and incidents within 15 minutes."
      rows={[
        ...shown.map(({ key, at, row }) => (
          <Row
            key={key}
            title={row}
            sub={
              <>
                {distanceText(at, triggeredAt)}, <Timestamp at={at} format="date_time" />
              </>
            }
          />
        )),
        ...(shown.length < ordered.length
          ? [
              <Row
                key="whole"
                title={
                  <TextButton onClick={() => setIsWhole(true)}>Show {ordered.length - shown.length} more</TextButton>
                }
              />,
            ]
          : more.map((text) => <Row key={text} title={text} />)),
      ]}
    />
  );
}

function ChangedThing({ target, children }: { readonly target: string; readonly children: string }) {
  const name = <Name>{children}</Name>;
  if (target.startsWith('rule_')) {
    return (
      <Link to="/rules/$ruleId" params={{ ruleId: target }}>
        {name}
      </Link>
    );
  }
  if (target.startsWith('policy_')) {
    return (
      <Link to="/oncall/policies/$policyId" params={{ policyId: target }}>
        {name}
      </Link>
    );
  }
  return name;
}

/** Returns how long before or after the incident something happened: `4 min before`. */
function distanceText(at: string, triggeredAt: string): string {
  const distance = Date.parse(at) - Date.parse(triggeredAt);
  return distance === 0 ? 'Together' : `${durationText(Math.abs(distance))} ${distance < 0 ? 'before' : 'after'}`;
}

/** Returns how many more there were than are listed: `And 24 more new exceptions, 23 of them in this service.` */
function moreText(
  listed: readonly unknown[],
  { ofService, elsewhere }: Context['newGroupTotals'],
  what: string,
): string | null {
  const more = ofService + elsewhere - listed.length;
  if (more <= 0) return null;
  const ofThis = Math.max(0, ofService - listed.length);
  return `And ${more.toLocaleString()} more ${what}${more === 1 ? '' : 's'}, ${ofThis.toLocaleString()} of them in this service.`;
}

function IncidentLink({ incidentId, title }: { readonly incidentId: string; readonly title: string }) {
  return (
    <Link to="/incidents/$incidentId" params={{ incidentId }}>
      <Sentence>{title}</Sentence>
    </Link>
  );
}

/** Card of the metrics of the service that left their usual range when the incident opened; nothing if none did. */
function MovedMetrics({ incident: { incidentId, serviceId } }: { readonly incident: IncidentWithLog }) {
  const { orgId } = useOrganization().org;
  // The card stands at the end of the page: whoever answers and leaves does not wait for it.
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { data } = useQuery({
    ...actionQuery(orgId, 'incidents', 'list_moved_metrics', { incidentId }),
    staleTime: Infinity,
    enabled: inViewport,
  });
  if (data === undefined) return <div ref={ref} />;
  if (data.metrics.length === 0) return null;
  const { metrics, lookedAt, total } = data;
  return (
    <Card
      title="Metrics that moved"
      about={`Around the trigger they left the range of the hour before.${lookedAt < total ? ` ${lookedAt} of ${total.toLocaleString()} metrics were compared.` : ''}`}
      rows={metrics.map(({ metricName, aggregation, isRate, before, after }) => {
        const measure = isRate ? measureOfRate(metricName) : measureOf(metricName, aggregation);
        return (
          <Row
            key={metricName}
            title={
              <Link to="/explore" search={{ service: serviceId, metric: metricName }}>
                <Name>{metricName}</Name>
              </Link>
            }
            sub={`From ${quantityText(before, measure)} to ${quantityText(after, measure)}.`}
          />
        );
      })}
    />
  );
}

export function IncidentNotFound({ incidentId }: { readonly incidentId: string }) {
  return (
    <InOtherOrganization find={(client, orgId) => client.fetchQuery(incidentQuery(orgId, incidentId))}>
      <EmptyState
        icon={<IconSearchOff size={24} />}
        title="Incident not found"
        actions={
          <Button component={Link} to="/incidents">
            All incidents
          </Button>
        }
      >
        Its service may have been deleted, it may be older than the retention of its service, or it belongs to an
        organization that you are not in.
      </EmptyState>
    </InOtherOrganization>
  );
}
