import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { IncidentWithLog, ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { STATUS_TONES, Status } from '#console/components/status.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { MovedMetrics } from '#console/pages/incidents/moved_metrics.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

type Context = ResultOf<'get_incident_context'>;

/** Context of an incident: similar ones before, and what else happened at its time. */
export function IncidentContext({ incident }: { readonly incident: IncidentWithLog }) {
  const { orgId } = useOrganization().org;
  const { data, error } = useQuery({
    ...actionQuery(orgId, 'incidents', 'get_incident_context', { incidentId: incident.incidentId }),
    staleTime: 60_000,
  });
  if (error !== null) return <ErrorAlert error={error} title="Similar incidents could not be loaded" />;
  if (data === undefined) return null;
  return (
    <>
      <Similar similar={data.similar} />
      <Around serviceId={incident.serviceId} context={data} />
      <MovedMetrics incident={incident} />
    </>
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

/** List of changes, new exceptions and other incidents, in the order of time. */
function Around({ serviceId, context }: { readonly serviceId: string; readonly context: Context }) {
  const { changes, newGroups, releases, neighbours } = context;
  const entries: { readonly at: string; readonly key: string; readonly row: ReactNode }[] = [
    ...changes.map(({ at, action, by, target, targetName }) => ({
      at,
      key: `${at} ${action} ${target}`,
      row: (
        <>
          <Name>{by}</Name>: {action.replaceAll('_', ' ')}
          {targetName !== null && (
            <>
              {' '}
              <Name>{targetName}</Name>
            </>
          )}
        </>
      ),
    })),
    ...newGroups.map(({ groupId, title, serviceName, release, at }) => ({
      at,
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
            <Name>{title}</Name>
          </Link>
        </>
      ),
    })),
    ...releases.map(({ release, environment, at }) => ({
      at,
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
    ...neighbours.map(({ incidentId, title, serviceName, triggeredAt }) => ({
      at: triggeredAt,
      key: incidentId,
      row: (
        <>
          <Name>{serviceName}</Name>: <IncidentLink incidentId={incidentId} title={title} />
        </>
      ),
    })),
  ];
  const more = [
    moreText(newGroups, context.newGroupTotals, 'new exception'),
    moreText(neighbours, context.neighbourTotals, 'other incident'),
  ].flatMap((text) => text ?? []);
  if (entries.length === 0) {
    return <Card title="What else happened" about="Nothing was changed shortly before, and nothing else broke." />;
  }
  return (
    <Card
      title="What else happened"
      about="Changes of the service, its rules and the policy, its deploys and new releases, from two hours before; new exceptions and other incidents within 15 minutes, those of this service first."
      rows={[
        ...entries
          .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
          .map(({ key, at, row }) => <Row key={key} title={row} sub={<Timestamp at={at} format="date_time" />} />),
        ...more.map((text) => <Row key={text} title={text} />),
      ]}
    />
  );
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
      <Name>{title}</Name>
    </Link>
  );
}
