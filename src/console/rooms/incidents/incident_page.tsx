import { Button, Skeleton, Stack } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { isProblem } from '#console/api/http.ts';
import { incidentQuery } from '#console/api/queries.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { Failure } from '#console/parts/failure.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Name } from '#console/parts/name.tsx';
import { Page } from '#console/parts/page.tsx';
import { IncidentStatus } from '#console/parts/status.tsx';
import { EscalationCard } from '#console/rooms/incidents/escalation_card.tsx';
import { FindElsewhere } from '#console/rooms/incidents/find_elsewhere.tsx';
import classes from '#console/rooms/incidents/incident_page.module.css';
import { NotificationLog } from '#console/rooms/incidents/notification_log.tsx';
import { useNames } from '#console/rooms/incidents/people.ts';
import { type Answer, useSettle } from '#console/rooms/incidents/settle.ts';
import { StormMembers } from '#console/rooms/incidents/storm_members.tsx';
import { Story } from '#console/rooms/incidents/story.tsx';
import { useTakeBack } from '#console/rooms/incidents/take_back.ts';
import { WhatHappened } from '#console/rooms/incidents/what_happened.tsx';
import { useLetter } from '#console/shell/keyboard.ts';
import { useHere } from '#console/shell/organization.tsx';
import { settlerName } from '#core/incidents/settler.ts';

const route = getRouteApi('/inside/incidents/$incidentId');

/** While it is open somebody may look at it without the live connection working. */
const REFRESH_MS = 20_000;

export function IncidentPage() {
  const { incidentId } = route.useParams();
  const { org } = useHere();
  const { data, error, refetch } = useQuery({
    ...incidentQuery(org.orgId, incidentId),
    refetchInterval: ({ state }) => (state.data?.status === 'resolved' ? false : REFRESH_MS),
  });
  const back = (
    <Link to="/incidents" className={classes.back}>
      <IconArrowLeft size={16} aria-hidden /> Incidents
    </Link>
  );
  if (data !== undefined) return <Shown key={incidentId} incident={data} back={back} />;
  return (
    <Page title="Incident" above={back}>
      {isProblem(error, 404) && <FindElsewhere incidentId={incidentId} />}
      {error !== null && !isProblem(error, 404) && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && (
        <Stack>
          <Skeleton height={120} radius="lg" />
          <Skeleton height={240} radius="lg" />
        </Stack>
      )}
    </Page>
  );
}

function Shown({ incident, back }: { readonly incident: IncidentWithLog; readonly back: React.ReactNode }) {
  const { may } = useHere();
  return (
    <div className={classes.room}>
      <Page
        title={incident.title}
        above={back}
        lead={<Facts incident={incident} />}
        actions={
          may('oncall:edit') &&
          (incident.status === 'resolved' ? <Reopen incident={incident} /> : <Answers incident={incident} />)
        }
      >
        <div className={classes.columns}>
          <div>
            <WhatHappened incident={incident} />
            <StormMembers incident={incident} />
            <Story timeline={incident.timeline} />
          </div>
          <div>
            <EscalationCard incident={incident} />
            <NotificationLog notifications={incident.notifications} />
          </div>
        </div>
      </Page>
    </div>
  );
}

function Facts({ incident }: { readonly incident: IncidentWithLog }) {
  const { number, status, serviceId, severity, occurrences, triggeredAt, acknowledgedAt, acknowledgedBy } = incident;
  const { resolvedAt, resolvedBy } = incident;
  const { data } = useInfiniteQuery(serviceSearchQuery(useHere().org.orgId, { serviceIds: [serviceId], limit: 1 }));
  const nameOf = useNames();
  const service = data?.pages[0]?.services[0];
  return (
    <div className={classes.facts}>
      <IncidentStatus status={status} />
      <Link to="/services/$serviceId" params={{ serviceId }}>
        <Name>{service?.name ?? 'Service'}</Name>
      </Link>
      <span>#{number}</span>
      <span>severity {severity}</span>
      {occurrences > 1 && <span>{occurrences} times</span>}
      <span>
        triggered <Moment at={triggeredAt} />
      </span>
      {status === 'acknowledged' && acknowledgedAt !== null && acknowledgedBy !== null && (
        <span>
          acknowledged by {settlerName(acknowledgedBy, nameOf)} <Moment at={acknowledgedAt} />
        </span>
      )}
      {resolvedAt !== null && resolvedBy !== null && (
        <span>
          resolved by {settlerName(resolvedBy, nameOf)} <Moment at={resolvedAt} />
        </span>
      )}
    </div>
  );
}

function Answers({ incident: { incidentId, status } }: { readonly incident: IncidentWithLog }) {
  const settle = useSettle();
  const answer = (kind: Answer) => () => settle.mutate({ answer: kind, incidentIds: [incidentId] });
  useLetter('a', answer('acknowledge'));
  useLetter('r', answer('resolve'));
  return (
    <div className={classes.actions}>
      {status === 'triggered' && (
        <Button onClick={answer('acknowledge')} loading={settle.isPending && settle.variables.answer === 'acknowledge'}>
          Acknowledge
        </Button>
      )}
      <Button variant="default" onClick={answer('resolve')}>
        Resolve
      </Button>
    </div>
  );
}

/** For a resolution that turns out to be none. */
function Reopen({ incident: { incidentId } }: { readonly incident: IncidentWithLog }) {
  const takeBack = useTakeBack();
  return (
    <div className={classes.actions}>
      <Button
        variant="default"
        onClick={() => takeBack.mutate({ answer: 'resolve', incidentIds: [incidentId] })}
        loading={takeBack.isPending}
      >
        Reopen
      </Button>
    </div>
  );
}
