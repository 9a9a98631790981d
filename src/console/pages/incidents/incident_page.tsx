import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useDidUpdate } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { agentWorkQuery, incidentQuery, type IncidentWithLog } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { Back, ItemActions, ItemPage, Page } from '#console/components/page.tsx';
import { PrefetchOnHover } from '#console/components/prefetch_on_hover.tsx';
import { IncidentStatus, Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { People, Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { type Answer, useAnswerIncidents, useUndoAnswers } from './answer_incidents.ts';
import { IconPencil } from '#console/icons.ts';
import { IncidentGuidance, IncidentMaintenance, LinkedIncidents } from '#console/pages/incidents/linked_incidents.tsx';
import { EscalationCard } from '#console/pages/incidents/escalation_card.tsx';
import { isWithOthers } from '#console/pages/incidents/escalation_text.ts';
import { IncidentCause } from './incident_cause.tsx';
import { MemberNames, useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { NotificationLog, Timeline } from '#console/pages/incidents/timeline.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';

const IncidentNotFound = lazyPart(() =>
  import('#console/pages/incidents/incident_context.tsx').then((m) => m.IncidentNotFound),
);
const IncidentContext = lazyPart(() =>
  import('#console/pages/incidents/incident_context.tsx').then((m) => m.IncidentContext),
);

const AroundIncident = lazyPart(() =>
  import('#console/pages/incidents/incident_context.tsx').then((m) => m.AroundIncident),
);

const AgentsCard = lazyPart(() => import('#console/pages/incidents/agents_card.tsx').then((m) => m.AgentsCard));

const route = getRouteApi('/inside/incidents/$incidentId');

/** Refresh interval of an open incident, in case the live connection does not work. */
const REFRESH_MS = 20_000;

export function IncidentPage() {
  const { incidentId } = route.useParams();
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery({
    ...incidentQuery(org.orgId, incidentId),
    refetchInterval: ({ state }) => (state.data?.status === 'resolved' ? false : REFRESH_MS),
  });
  // Fetched together with the incident, because its card stands above what people read.
  const work = useQuery(agentWorkQuery(org.orgId, incidentId));
  const isWorkLoading = work.isPending && work.fetchStatus === 'fetching' && work.failureCount === 0;
  const back = <Back to="/incidents">Incidents</Back>;
  if (data !== undefined && !isWorkLoading) {
    return (
      <MemberNames key={incidentId} incident={data}>
        <Incident incident={data} back={back} />
      </MemberNames>
    );
  }
  return (
    <Page title="Incident" above={back}>
      {isApiError(error, 404) && <IncidentNotFound incidentId={incidentId} />}
      {error !== null && !isApiError(error, 404) && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {error === null && (
        <Stack>
          <Skeleton height={120} radius="lg" />
          <Skeleton height={240} radius="lg" />
        </Stack>
      )}
    </Page>
  );
}

function Incident({ incident, back }: { readonly incident: IncidentWithLog; readonly back: React.ReactNode }) {
  const { may } = useOrganization();
  const [isNoting, setIsNoting] = useState(false);
  return (
    <ItemPage
      title={incident.title}
      back={back}
      facts={<Facts incident={incident} />}
      permission="oncall:edit"
      actions={may('oncall:edit') && <Answers incident={incident} onNote={() => setIsNoting(true)} />}
    >
      <div>
        <IncidentMaintenance incident={incident} />
        <IncidentGuidance incidentId={incident.incidentId} />
        <IncidentCause incident={incident} />
        <LinkedIncidents incident={incident} />
        <Agents incident={incident} />
        <StormMembers incident={incident} />
        <AroundIncident incident={incident} whileLoading={<Card title="What else happened" />} />
        <Timeline incident={incident} isNoting={isNoting} onNoted={() => setIsNoting(false)} />
      </div>
      <div>
        <ResponseCard incident={incident} />
        <EscalationCard incident={incident} />
        <NotificationLog incident={incident} />
      </div>
      <div>
        <PrefetchOnHover>
          <IncidentContext incident={incident} />
        </PrefetchOnHover>
      </div>
    </ItemPage>
  );
}

function Facts({ incident }: { readonly incident: IncidentWithLog }) {
  const { number, status, serviceId, severity, occurrences, triggeredAt, acknowledgedAt, acknowledgedBy } = incident;
  const { resolvedAt, resolvedBy } = incident;
  const { data } = useInfiniteQuery(
    serviceSearchQuery(useOrganization().org.orgId, { serviceIds: [serviceId], limit: 1 }),
  );
  const nameOf = useMemberNames();
  const service = data?.pages[0]?.services[0];
  const fired = incident.escalation.steps.findLast(({ people }) => people.length > 0);
  const paged = fired?.people.map(({ userId }) => ({ userId, name: nameOf(userId) })) ?? [];
  return (
    <>
      <IncidentStatus status={status} />
      <span>#{number}</span>
      <span>severity {severity}</span>
      {occurrences > 1 && <span>{occurrences} times</span>}
      <span>
        triggered <Timestamp at={triggeredAt} />
      </span>
      {status === 'triggered' && paged.length > 0 && (
        <span>
          last paged <People people={paged} between=" and " />
        </span>
      )}
      {status === 'acknowledged' && acknowledgedAt !== null && acknowledgedBy !== null && (
        <span>
          acknowledged by <ActorName by={acknowledgedBy} /> <Timestamp at={acknowledgedAt} />
        </span>
      )}
      {resolvedAt !== null && resolvedBy !== null && (
        <span>
          resolved by <ActorName by={resolvedBy} /> <Timestamp at={resolvedAt} />
        </span>
      )}
      <span data-rest="">
        <Link to="/services/$serviceId" params={{ serviceId }}>
          <Name>{service?.name ?? 'Service'}</Name>
        </Link>
      </span>
    </>
  );
}

function ActorName({ by }: { readonly by: NonNullable<IncidentWithLog['acknowledgedBy']> }) {
  const name = actorName(by, useMemberNames());
  return by.userId === undefined ? name : <Person userId={by.userId}>{name}</Person>;
}

interface AnswersProps {
  readonly incident: IncidentWithLog;
  readonly onNote: () => void;
}

/**
 * Bar of what a person can do about the incident. Whatever happens meanwhile, each place holds one act or none: nobody hits
 * another one than they aimed at.
 */
export function Answers({ incident, onNote }: AnswersProps) {
  const { incidentId, status } = incident;
  const { session } = useOrganization();
  const isResolved = status === 'resolved';
  const [isHandingOver, setIsHandingOver] = useState(false);
  const answering = useAnswerIncidents();
  const undoing = useUndoAnswers();
  const answer = (kind: Answer) => () => isResolved || answering.mutate({ answer: kind, incidentIds: [incidentId] });
  useShortcut('a', answer('acknowledge'));
  useShortcut('r', answer('resolve'));
  useShortcut('s', () => isResolved || setIsHandingOver(true));
  return (
    <ItemActions isLarge>
      {status === 'triggered' ? (
        <Button
          variant={isWithOthers(incident.escalation, session.user.userId) ? 'default' : 'filled'}
          onClick={answer('acknowledge')}
          loading={answering.isPending && answering.variables.answer === 'acknowledge'}
        >
          Acknowledge
        </Button>
      ) : (
        <span>{isResolved ? '\u00A0' : 'Acknowledged'}</span>
      )}
      {isResolved ? (
        <span>Resolved</span>
      ) : (
        <Button variant="default" onClick={answer('resolve')}>
          Resolve
        </Button>
      )}
      {isResolved ? (
        <Button
          variant="default"
          onClick={() => undoing.mutate({ answer: 'resolve', incidentIds: [incidentId] })}
          loading={undoing.isPending}
        >
          Reopen
        </Button>
      ) : (
        <Button variant="default" onClick={() => setIsHandingOver(true)}>
          Hand over
        </Button>
      )}
      <Button variant="default" aria-label="Write a note" title="Write a note" onClick={onNote}>
        <IconPencil size={20} stroke={1.75} aria-hidden data-phone-only />
        <span>Note</span>
      </Button>
      {isHandingOver && <HandOver incident={incident} onClose={() => setIsHandingOver(false)} />}
    </ItemActions>
  );
}

type Member = IncidentWithLog['members'][number];

/** Refresh interval of what agents do: a lease runs out without anything else happening. */
const REFRESH_WORK_MS = 15_000;

/** Card of what agents do about the incident; nothing while no agent has touched it. */
function Agents({ incident: { incidentId, status, timeline } }: { readonly incident: IncidentWithLog }) {
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery({
    ...agentWorkQuery(org.orgId, incidentId),
    refetchInterval: status === 'resolved' ? false : REFRESH_WORK_MS,
  });
  // Whatever agents and people do is an event of the timeline, too.
  useDidUpdate(() => void refetch(), [timeline.length]);
  if (error !== null && data === undefined) return <ErrorAlert error={error} title="Agents could not be loaded" />;
  if (data === undefined || (data.lease === null && data.total === 0)) return null;
  return <AgentsCard work={data} onAnswered={refetch} whileLoading={<Card title="Agents" />} />;
}

/** Card of the alerts behind a storm incident, which replaces many incidents of one service. */
function StormMembers({ incident }: { readonly incident: IncidentWithLog }) {
  const { members } = incident;
  if (members.length === 0) return null;
  const { standsFor: total = members.length } = incident.details as { readonly standsFor?: number };
  const shown = members.length < total ? ` The newest ${members.length} are shown.` : '';
  return (
    <Card
      title={`Grouped here (${total})`}
      about={`This service opened too many incidents at once. This incident pages for all of them together.${shown}`}
      rows={members.map((member) => (
        <Row
          key={`${member.ruleId} ${member.exceptionGroupId} ${member.joinedAt}`}
          title={<MemberLink member={member} />}
          sub={<StormFacts member={member} />}
        >
          <Status tone={member.endedAt === null ? 'red' : 'gray'}>{member.endedAt === null ? 'open' : 'ended'}</Status>
        </Row>
      ))}
    />
  );
}

/** Leads to the exception, else to the rule that would have opened an incident. */
function MemberLink({ member: { exceptionGroupId, ruleId, title } }: { readonly member: Member }) {
  if (exceptionGroupId !== null) {
    return (
      <Link to="/exceptions/$groupId" params={{ groupId: exceptionGroupId }}>
        <Name>{title}</Name>
      </Link>
    );
  }
  if (ruleId === null) return <Name>{title}</Name>;
  return (
    <Link to="/rules/$ruleId" params={{ ruleId }}>
      <Name>{title}</Name>
    </Link>
  );
}

function StormFacts({ member: { severity, occurrences, joinedAt } }: { readonly member: Member }) {
  return (
    <>
      severity {severity}
      {occurrences > 1 && `, ${occurrences} times`}, <Timestamp at={joinedAt} />
    </>
  );
}

const ChangeSeverity = lazyPart(() =>
  import('#console/pages/incidents/change_severity.tsx').then((m) => m.ChangeSeverity),
);
const HandOver = lazyPart(() => import('#console/pages/incidents/hand_over.tsx').then((m) => m.HandOver));
const ChooseLead = lazyPart(() => import('#console/pages/incidents/choose_lead.tsx').then((m) => m.ChooseLead));

const PublishDialog = lazyPart(() =>
  import('#console/pages/status_pages/publish_dialog.tsx').then((m) => m.PublishDialog),
);

function ResponseCard({ incident }: { readonly incident: IncidentWithLog }) {
  const { may, session } = useOrganization();
  const { incidentId, commanderId, severity, status } = incident;
  const nameOf = useMemberNames();
  const [dialog, setDialog] = useState<'severity' | 'lead' | 'publish' | null>(null);
  const leading = useIncidentChange('set_incident_commander', incidentId);
  const mayChange = may('oncall:edit') && status !== 'resolved';
  const viewerId = session.user.userId;
  if (status === 'resolved' && commanderId === null) return null;
  const lead = (userId: string | null) => () => leading.mutate({ incidentId, userId, seen: commanderId });
  const close = () => setDialog(null);
  return (
    <Card
      title="Response"
      rows={
        <>
          <Row
            title={
              commanderId === null ? (
                'Nobody leads it'
              ) : (
                <>
                  Led by <Person userId={commanderId}>{nameOf(commanderId)}</Person>
                </>
              )
            }
            sub="The lead says who does what and tells others how it goes. Choosing one pages nobody; Hand over does."
          >
            {mayChange && (
              <Group gap="xs">
                {commanderId === viewerId ? (
                  <Button size="xs" variant="default" onClick={lead(null)} loading={leading.isPending}>
                    Step back
                  </Button>
                ) : (
                  <Button size="xs" variant="default" onClick={lead(viewerId)} loading={leading.isPending}>
                    Take the lead
                  </Button>
                )}
                <Button size="xs" variant="default" onClick={() => setDialog('lead')}>
                  Choose the lead
                </Button>
              </Group>
            )}
          </Row>
          {mayChange && (
            <Row title="Status page" sub="Readers see only what you publish.">
              <Button size="xs" variant="default" onClick={() => setDialog('publish')}>
                Publish
              </Button>
            </Row>
          )}
          <Row title={`Severity ${severity}`}>
            {mayChange && (
              <Button size="xs" variant="default" onClick={() => setDialog('severity')}>
                Change
              </Button>
            )}
          </Row>
        </>
      }
    >
      {leading.isError && <ErrorAlert title="Who leads was not changed" error={leading.error} />}
      {dialog === 'severity' && <ChangeSeverity incident={incident} onClose={close} />}
      {dialog === 'publish' && <PublishDialog incident={incident} onClose={close} />}
      {dialog === 'lead' && <ChooseLead incident={incident} onClose={close} />}
    </Card>
  );
}
