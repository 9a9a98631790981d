import { Alert, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { FoundIncident } from '#console/api/actions.ts';
import { type HomeData, homeQuery, pagingProblemsQuery } from '#console/api/home.ts';
import { incidentCountsQuery, incidentSearchQuery } from '#console/api/incidents.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { ChannelIcon } from '#console/components/text/channel.tsx';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { Timestamp, useNow } from '#console/components/text/timestamp.tsx';
import { IconBell, IconBellOff, IconBellRinging, IconCheck, IconMoonStars } from '#console/icons.ts';
import { isComplete, SetupChecklist } from '#console/pages/home/setup_checklist.tsx';
import { WhoIsOnCall } from '#console/pages/home/who_is_on_call.tsx';
import { useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { IncidentRow, LastResolved, lastResolvedQuery } from '#console/pages/incidents/incident_row.tsx';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { MY_INCIDENTS, MY_INCIDENTS_SHOWN_MAX } from '#modules/pages/decide/page_queries.ts';
import classes from '#console/pages/home/home.module.css';

/** Refresh interval: shifts begin and end without anybody changing anything. */
const REFRESH_MS = 60_000;
/** Refresh interval of the checklist, which shows changes from elsewhere, such as the first data of a service. */
const REFRESH_SETUP_MS = 15_000;

/** Home page: what somebody who was paged, or who starts the day, needs first. */
export function Home() {
  const { session } = useOrganization();
  return (
    <Page title={`${greeting(new Date().getHours())}, ${isolateBidi(session.user.name.split(' ')[0] ?? '')}`}>
      <Content />
    </Page>
  );
}

/** Content of the page. Shows all parts once all are loaded, so that nothing moves while somebody reads or presses. */
function Content() {
  const { orgId } = useOrganization().org;
  const home = useQuery({
    ...homeQuery(orgId),
    refetchInterval: ({ state }) =>
      state.data !== undefined && !isComplete(state.data.setup) ? REFRESH_SETUP_MS : REFRESH_MS,
  });
  const problems = useQuery(pagingProblemsQuery(orgId));
  const incidents = useInfiniteQuery(myIncidentsQuery(orgId));
  const isQuiet = incidents.data?.pages[0]?.incidents.length === 0;
  const last = useInfiniteQuery({ ...lastResolvedQuery(orgId), enabled: isQuiet });
  if ([home, problems, incidents].some(({ isPending }) => isPending) || last.isLoading) return <Waiting />;
  if (home.data === undefined) {
    return (
      <>
        <ErrorAlert error={home.error} onRetry={() => void home.refetch()} />
        <div className={classes.below}>
          <MyIncidents />
        </div>
      </>
    );
  }
  return <Parts home={home.data} />;
}

function Parts({ home }: { readonly home: HomeData }) {
  const { org, may } = useOrganization();
  const { orgId } = org;
  const hasIncidents = useInfiniteQuery(myIncidentsQuery(orgId)).data?.pages[0]?.incidents.length !== 0;
  const { failing = [], warnings = [] } = useQuery(pagingProblemsQuery(orgId)).data ?? {};
  // Before anybody can be paged, setting up is what matters most; then it makes room.
  const isNew = !home.setup.hasPagingRule;
  const hasProblems = may('oncall:edit') && (failing.length > 0 || warnings.length > 0);
  const isWide = home.scheduleCount === 0 && !hasProblems && isNew;
  return (
    <>
      <MyOnCall home={home} />
      <div className={isWide ? classes.column : classes.columns}>
        <div>
          {isNew && !hasIncidents && <SetupChecklist progress={home.setup} />}
          <MyIncidents />
          {isNew && hasIncidents && <SetupChecklist progress={home.setup} />}
        </div>
        <div>
          <WhoIsOnCall home={home} />
          <DeliveryProblems />
          {!isNew && <SetupChecklist progress={home.setup} />}
        </div>
      </div>
    </>
  );
}

function Waiting() {
  return (
    <>
      <Skeleton height={76} radius="lg" mb="lg" />
      <div className={classes.columns}>
        <Skeleton height={320} radius="lg" />
        <Skeleton height={320} radius="lg" />
      </div>
    </>
  );
}

function greeting(hour: number): string {
  if (hour < 5) return 'Hello';
  if (hour < 12) return 'Good morning';
  return hour < 18 ? 'Good afternoon' : 'Good evening';
}

const myIncidentsQuery = (orgId: string) => incidentSearchQuery(orgId, MY_INCIDENTS);

/** Card of incidents that nobody has acknowledged, and those that the person has. */
function MyIncidents() {
  const { org, session, may } = useOrganization();
  const { data, error, refetch } = useInfiniteQuery(myIncidentsQuery(org.orgId));
  const { data: counts } = useQuery(incidentCountsQuery(org.orgId));
  const answering = useAnswerIncidents();
  const answer = (kind: 'acknowledge' | 'resolve', incidentId: string | null): void => {
    if (incidentId !== null && may('oncall:edit')) answering.mutate({ answer: kind, incidentIds: [incidentId] });
  };
  useShortcut('a', () => answer('acknowledge', focusedRowId()));
  useShortcut('r', () => answer('resolve', focusedRowId()));
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;

  const isMine = ({ status, acknowledgedBy }: FoundIncident) =>
    status === 'triggered' || (status === 'acknowledged' && acknowledgedBy?.userId === session.user.userId);
  const open = counts === undefined ? 0 : counts.triggered + counts.acknowledged;
  const mine = data.pages.flatMap(({ incidents }) => incidents).filter(isMine);
  return (
    <Card
      title="Your open incidents"
      about="Incidents that nobody has acknowledged, and those that you have."
      action={
        open > 0 && (
          <Link to="/incidents" className="plain-link">
            See all open ({open.toLocaleString()})
          </Link>
        )
      }
    >
      {mine.length === 0 ? (
        <EmptyState
          icon={<IconCheck size={24} />}
          title={open === 0 ? 'All quiet' : 'None of them waits for you'}
          isCalm
        >
          <LastResolved />
        </EmptyState>
      ) : (
        <ul className={classes.list} aria-label="Your open incidents">
          {mine.slice(0, MY_INCIDENTS_SHOWN_MAX).map((incident) => (
            <IncidentRow
              key={incident.incidentId}
              isShort
              incident={incident}
              {...(may('oncall:edit') && { onAcknowledge: () => answer('acknowledge', incident.incidentId) })}
            />
          ))}
        </ul>
      )}
      {mine.length > MY_INCIDENTS_SHOWN_MAX && <Link to="/incidents">Show more</Link>}
    </Card>
  );
}

const SHOWN_MAX = 6;

/** Refresh interval, after which a channel that works again is no longer shown as failing. */
const PROBLEMS_REFRESH_MS = 15_000;

/**
 * Card for those who are paged of the reasons why a page might not arrive: channels that fail, and the warnings of teams;
 * for owners also that channels are simulated.
 */
function DeliveryProblems() {
  const { org, may } = useOrganization();
  const { data } = useQuery({ ...pagingProblemsQuery(org.orgId), refetchInterval: PROBLEMS_REFRESH_MS });
  const { failing = [], warnings = [], warningCount = 0 } = data ?? {};
  const simulated = org.role === 'owner' ? (data?.simulated ?? []) : [];
  if (!may('oncall:edit')) return null;
  if (failing.length === 0 && simulated.length === 0 && warnings.length === 0) return null;
  return (
    <Card
      title="Pages might not arrive"
      rows={
        <>
          {failing.map(({ channel, lastFailure, lastFailedAt }) => (
            <Row
              key={channel}
              icon={<ChannelIcon channel={channel} />}
              title={`${CHANNEL_DECLARATIONS[channel].title} is failing`}
              sub={
                <>
                  The last message failed {lastFailedAt !== null && <Timestamp at={lastFailedAt} />}
                  {lastFailure !== null && `: ${reasonOf(lastFailure)}`}. No message was sent since.{' '}
                  <Link to="/me">Send yourself a test</Link> to try again.
                </>
              }
            >
              <Status tone="red">failing</Status>
            </Row>
          ))}
          {simulated.map((channel) => (
            <Row
              key={channel}
              icon={<ChannelIcon channel={channel} />}
              title={`${CHANNEL_DECLARATIONS[channel].title} is simulated`}
              sub="No Twilio account is configured: messages go to the phone simulator and wake nobody."
            >
              <Status tone="amber">simulated</Status>
            </Row>
          ))}
          {warnings.slice(0, SHOWN_MAX).map(({ teamId, teamName, kind, message, policyId }) => (
            <Row
              key={`${teamId} ${message}`}
              title={
                policyId === null ? (
                  <Link to="/oncall/teams/$teamId" params={{ teamId }}>
                    <Name>{teamName}</Name>
                  </Link>
                ) : (
                  <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                    <Name>{teamName}</Name>
                  </Link>
                )
              }
              sub={
                <>
                  <Sentence>{localTimes(message)}</Sentence>{' '}
                  {kind === PAGES_NOBODY && (
                    <Link to="/oncall/policies/new" search={{ team: teamId }}>
                      Create a policy
                    </Link>
                  )}
                </>
              }
            />
          ))}
          {warningCount > SHOWN_MAX && (
            <Row title={<Link to="/oncall/teams">And {warningCount - SHOWN_MAX} more</Link>} />
          )}
        </>
      }
    />
  );
}

const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Converts times in sentences from the server, which are in UTC, to the viewer's zone. */
function localTimes(text: string): string {
  return text.replaceAll(TIMESTAMP, (at) => dateTimeText(at));
}

const NEXT_SHOWN_MAX = 3;

const PAGES_NOBODY = 'schedule_pages_nobody';

type OwnShift = HomeData['ownShifts'][number];

/** Card on whether the person is on call now, until when, and their next shifts. */
function MyOnCall({ home: { ownShifts, scheduleCount, readiness } }: { readonly home: HomeData }) {
  const { orgId } = useOrganization().org;
  const now = new Date(useNow(5)).toISOString();
  const running = ownShifts.filter(({ since, until }) => since <= now && (until === null || now < until));
  const next = ownShifts.filter(({ since }) => since > now).slice(0, NEXT_SHOWN_MAX);
  const isOnCall = running.length > 0;
  const { warnings = [] } = useQuery(pagingProblemsQuery(orgId)).data ?? {};
  const problem = <Unreached isOnCall={isOnCall} readiness={readiness} />;
  if (scheduleCount === 0) return problem;
  const Icon = isOnCall ? IconBellRinging : next.length === 0 ? IconMoonStars : IconBell;
  return (
    <>
      {problem}
      <section
        className={`${classes.call} row`}
        data-on-call={isOnCall ? '' : undefined}
        aria-label="Your on-call status"
      >
        <span className={`${classes.callIcon} dimmed rigid`} aria-hidden>
          <Icon size={22} stroke={1.75} />
        </span>
        <div className={classes.callText}>
          <div className={classes.callTitle}>
            {isOnCall ? 'You are on call' : 'You are not on call in any schedule now'}
          </div>
          <div className={`${classes.sub} dimmed small`}>
            {running.map((shift) => (
              <Running
                key={`${shift.scheduleId} ${shift.since}`}
                shift={shift}
                pagesNobody={warnings.some(
                  ({ kind, scheduleId }) => kind === PAGES_NOBODY && scheduleId === shift.scheduleId,
                )}
              />
            ))}
            {!isOnCall &&
              next.length === 0 &&
              'You have no shift in the next 90 days. A policy that names you pages you all the same.'}
          </div>
        </div>
        {next.length > 0 && <NextShifts shifts={next} />}
      </section>
    </>
  );
}

/**
 * Warning to those who are paged, or on call without the right to answer, of what keeps a page from them, and where to fix
 * it.
 */
function Unreached({
  isOnCall,
  readiness: { answer, reasons },
}: { readonly isOnCall: boolean } & Pick<HomeData, 'readiness'>) {
  const { may } = useOrganization();
  const cannotAnswer = isOnCall && reasons.includes('cannot_answer');
  if (answer !== 'no' && !cannotAnswer) return null;
  if (!isOnCall && !may('oncall:edit')) return null;
  const what = answer === 'no' ? 'no page would wake you' : 'you could not answer a page';
  return (
    <Alert
      color="red"
      mb="md"
      icon={<IconBellOff size={20} />}
      title={isOnCall ? `You are on call, and ${what}` : `${what[0]?.toUpperCase()}${what.slice(1)}`}
    >
      {reasons.map((reason) => (
        <div key={reason}>{READINESS_REASONS[reason].you}</div>
      ))}
      {answer === 'no' && (
        <Link to="/me" hash="phone">
          Add a phone number, or let this device receive push
        </Link>
      )}
    </Alert>
  );
}

/** Names a schedule with its team, once if both have the same name. */
function placeText(teamName: string, scheduleName: string): string {
  return teamName === scheduleName ? teamName : `${isolateBidi(teamName)}, ${isolateBidi(scheduleName)}`;
}

interface RunningProps {
  readonly shift: OwnShift;
  /** Whether no policy asks the schedule. */
  readonly pagesNobody: boolean;
}

function Running({ shift: { teamName, scheduleName, until }, pagesNobody }: RunningProps) {
  return (
    <div>
      <Name>{placeText(teamName, scheduleName)}</Name>
      {until === null ? (
        ', until further notice'
      ) : (
        <>
          , until <Timestamp at={until} format="date_time" /> (<Timestamp at={until} />)
        </>
      )}{' '}
      {pagesNobody && <Status tone="amber">pages nobody yet</Status>}
    </div>
  );
}

function NextShifts({ shifts }: { readonly shifts: readonly OwnShift[] }) {
  return (
    <div className={`${classes.next} small rigid`}>
      <div className={`${classes.nextTitle} dimmed tiny`}>
        {shifts.length === 1 ? 'Your next shift' : 'Your next shifts'}
      </div>
      <ul className="plain-list">
        {shifts.map(({ scheduleId, teamName, scheduleName, since }) => (
          <li key={`${scheduleId} ${since}`}>
            <Timestamp at={since} format="date_time" /> <span className="dimmed">(</span>
            <Timestamp at={since} />
            <span className="dimmed">)</span> <Name>{placeText(teamName, scheduleName)}</Name>
          </li>
        ))}
      </ul>
    </div>
  );
}
