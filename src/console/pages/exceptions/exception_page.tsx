import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type ExceptionOverview, type GroupStatus, overviewQuery, refreshExceptions } from '#console/api/exceptions.ts';
import { serverNow } from '#console/api/http.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { showError, showSuccess } from '#console/components/notice.tsx';
import { Back, ItemActions, ItemPage, Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconBellPlus, IconBugOff, IconDots } from '#console/icons.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { DaysChart, HoursChart } from '#console/pages/exceptions/days_chart.tsx';
import { EventCard } from '#console/pages/exceptions/event/event_card.tsx';
import { GroupStatusBadge, snoozeText } from '#console/pages/exceptions/group_status.tsx';
import { GroupingCard, MergedCard, PartNotice } from '#console/pages/exceptions/grouping_card.tsx';
import { IncidentsCard, OriginsCard, SimilarCard, TagsCard } from '#console/pages/exceptions/overview_cards.tsx';
import { ReleaseLink } from '#console/pages/exceptions/release_link.tsx';
import { AssignMenu, ResolveMenu, SnoozeDialog, SnoozeMenu } from '#console/pages/exceptions/triage/menus.tsx';
import { useSetStatus } from '#console/pages/exceptions/triage/use_set_status.ts';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const EventsDialog = lazyDialog(() =>
  import('#console/pages/exceptions/search/events_dialog.tsx').then((m) => m.EventsDialog),
);
const UsersDialog = lazyDialog(() =>
  import('#console/pages/exceptions/search/users_dialog.tsx').then((m) => m.UsersDialog),
);
const IssueCard = lazyPart(() => import('#console/pages/exceptions/triage/issue_card.tsx').then((m) => m.IssueCard));
const ActivityCard = lazyPart(() =>
  import('#console/pages/exceptions/triage/activity_card.tsx').then((m) => m.ActivityCard),
);

const route = getRouteApi('/inside/exceptions/$groupId');

/** Refresh interval: counts of a group with very many events follow a few seconds later. */
const REFRESH_MS = 15_000;

const YOUNG_MS = 3 * 24 * 3_600_000;

export function ExceptionPage() {
  const { groupId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery({ ...overviewQuery(org.orgId, groupId), refetchInterval: REFRESH_MS });
  const { data } = loading;
  const back = <Back to="/exceptions">Exceptions</Back>;
  if (data !== undefined) return <Exception key={groupId} overview={data} back={back} />;
  return (
    <Page title="Exception" above={back}>
      <NotLoaded
        noun="Exception"
        icon={<IconBugOff size={24} />}
        gone="Its events are older than its service keeps them"
        query={loading}
        find={(client, orgId) => client.fetchQuery(overviewQuery(orgId, groupId))}
        heights={[130, 420]}
      />
    </Page>
  );
}

function Exception({ overview, back }: { readonly overview: ExceptionOverview; readonly back: React.ReactNode }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { may } = useOrganization();
  // Days of a group that has just begun say little: its stack comes first.
  const isYoung = serverNow() - Date.parse(overview.firstSeenAt) < YOUNG_MS;
  const showDay = (day: string | undefined): void =>
    void navigate({ search: day === undefined ? {} : { day }, replace: true });
  const charts = (
    <>
      {overview.hours !== null && <HoursChart hours={overview.hours} />}
      <DaysChart days={overview.days} deploys={overview.deploys} shown={search.day} onDay={showDay} />
    </>
  );
  return (
    <ItemPage
      title={overview.title}
      back={back}
      facts={<Facts overview={overview} />}
      permission="exceptions:edit"
      actions={
        <Actions
          overview={overview}
          mayTriage={may('exceptions:edit') && overview.mergedInto === null}
          mayCreateRule={may('oncall:edit')}
        />
      }
    >
      <div>
        <PartNotice overview={overview} maySplit={may('exceptions:edit')} />
        {!isYoung && charts}
        <EventCard
          overview={overview}
          address={search}
          onAddress={(address) => void navigate({ search: address, replace: true })}
          onDay={showDay}
        />
        {isYoung && charts}
      </div>
      <div>
        <ActivityCard groupId={overview.groupId} />
        <IssueCard overview={overview} mayEdit={may('exceptions:edit')} />
        <IncidentsCard overview={overview} />
        <OriginsCard overview={overview} />
        <TagsCard overview={overview} />
        <SimilarCard overview={overview} />
        <GroupingCard overview={overview} mayMerge={may('exceptions:edit')} />
        <MergedCard overview={overview} maySplit={may('exceptions:edit')} />
      </div>
    </ItemPage>
  );
}

const TREND_WORDS: Record<NonNullable<ExceptionOverview['trend']>['direction'], string> = {
  new: 'began this week',
  rising: 'rising',
  steady: 'steady',
  falling: 'falling',
  quiet: 'quiet',
};

function Facts({ overview }: { readonly overview: ExceptionOverview }) {
  const [list, setList] = useState<'events' | 'users' | null>(null);
  const { groupId, status, severity, serviceId, serviceName, eventCount, userCount, firstSeenAt, lastSeenAt } =
    overview;
  const { assignedUserId, assigneeName, assigneeColor, snoozed, firstRelease } = overview;
  const { isHandled, isNew, isWatched, regressedAt, regressedInRelease, trend, statusChangedAt } = overview;
  return (
    <>
      <GroupStatusBadge status={status} isSnoozed={snoozed !== null} />
      {isHandled === false && <Status tone="red">unhandled</Status>}
      <span>{severity}</span>
      {overview.title.includes('<*>') && <span>{'<*> stands for what differs between its events'}</span>}
      <Link to="/services/$serviceId" params={{ serviceId }}>
        <Name>{serviceName}</Name>
      </Link>
      <TextButton className="numbers" onClick={() => setList('events')}>
        {countText(eventCount, 'event')}
      </TextButton>
      <TextButton className="numbers" onClick={() => setList('users')}>
        {countText(userCount, 'user')}
      </TextButton>
      {list === 'events' && <EventsDialog groupId={groupId} onClose={() => setList(null)} />}
      {list === 'users' && <UsersDialog groupId={groupId} serviceId={serviceId} onClose={() => setList(null)} />}
      <span>
        first <Timestamp at={firstSeenAt} />
        {firstRelease !== null && (
          <>
            {' '}
            in release <ReleaseLink serviceId={serviceId} release={firstRelease} />
          </>
        )}
        , last <Timestamp at={lastSeenAt} />
      </span>
      {/* What changes while somebody works on it has a line of its own, so that the facts above keep their places. */}
      <div className="row wraps" style={{ flexBasis: '100%', gap: '0.375rem 0.75rem' }}>
        <span>
          assigned to{' '}
          {assigneeName === null ? (
            'nobody'
          ) : (
            <Person userId={assignedUserId} color={assigneeColor}>
              {assigneeName}
            </Person>
          )}
        </span>
        {snoozed !== null && <span>{snoozeText(snoozed)}</span>}
        {regressedAt !== null && <Status tone="amber">back again</Status>}
        {regressedInRelease !== null && (
          <span>
            in release <ReleaseLink serviceId={serviceId} release={regressedInRelease} />
          </span>
        )}
        {isNew && regressedAt === null && status === 'unresolved' && <Status tone="blue">new</Status>}
        {trend !== null && trend.direction !== 'quiet' && trend.direction !== 'new' && <span>{trendText(trend)}</span>}
        {status === 'resolved' && (
          <span>
            resolved <Timestamp at={statusChangedAt} />
            <FixText overview={overview} />
          </span>
        )}
        {status === 'resolved' && <WatchButton groupId={groupId} isWatched={isWatched} />}
      </div>
    </>
  );
}

/** Text on the release in which the group was resolved, or is to be fixed. */
function FixText({ overview: { serviceId, fix, resolvedInRelease } }: { readonly overview: ExceptionOverview }) {
  const release = fix?.release ?? resolvedInRelease;
  if (release === null) return null;
  const where =
    fix === null
      ? ' in release '
      : fix.kind === 'release'
        ? ', fixed in release '
        : ', fixed in the next release after ';
  return (
    <>
      {where}
      <ReleaseLink serviceId={serviceId} release={release} />
    </>
  );
}

function trendText({ direction, changePercent }: NonNullable<ExceptionOverview['trend']>): string {
  if (changePercent === null || direction === 'steady') return TREND_WORDS[direction];
  return `${TREND_WORDS[direction]} ${changePercent > 0 ? '+' : '−'}${Math.abs(changePercent)}% in a week`;
}

/** Id of the field for a new comment, which its card has, too. */
const COMMENT_FIELD = 'comment';

/** Shows the field for a comment, which is far down a phone, and writes in it. */
function goToComment(): void {
  const field = document.getElementById(COMMENT_FIELD);
  field?.scrollIntoView({ block: 'center' });
  field?.focus({ preventScroll: true });
}

interface ActionsProps {
  readonly overview: ExceptionOverview;
  readonly mayTriage: boolean;
  readonly mayCreateRule: boolean;
}

function Actions({ overview, mayTriage, mayCreateRule }: ActionsProps) {
  const { groupId, serviceId, status, snoozed, assigneeName } = overview;
  const setting = useSetStatus();
  const navigate = route.useNavigate();
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [isSnoozing, setIsSnoozing] = useState(false);
  const isIgnored = status === 'ignored' && snoozed === null;
  const set = (next: GroupStatus) => (): void => {
    if (mayTriage && (next === 'ignored' ? !isIgnored : next !== status))
      setting.mutate({ groupIds: [groupId], status: next });
  };
  useShortcut('r', set('resolved'));
  useShortcut('i', set('ignored'));
  useShortcut('o', set('unresolved'));
  return (
    <ItemActions>
      {mayTriage && status !== 'resolved' && (
        <Button title="Resolves its open incident, too" onClick={set('resolved')}>
          Resolve
        </Button>
      )}
      {mayTriage && status !== 'resolved' && <ResolveMenu groupIds={[groupId]} serviceId={serviceId} />}
      {mayTriage && status !== 'unresolved' && (
        <Button variant="default" onClick={set('unresolved')}>
          Reopen
        </Button>
      )}
      {mayTriage && !isIgnored && !isPhone && (
        <Button variant="default" onClick={set('ignored')}>
          Ignore
        </Button>
      )}
      {mayTriage && !isPhone && <SnoozeMenu groupIds={[groupId]} />}
      {mayTriage && <AssignMenu groupIds={[groupId]} assigneeName={assigneeName} />}
      {mayTriage && isPhone && (
        <Button variant="default" onClick={goToComment}>
          Comment
        </Button>
      )}
      {isSnoozing && <SnoozeDialog groupIds={[groupId]} onClose={() => setIsSnoozing(false)} />}
      {isPhone ? (
        // A phone has no room for all of their words.
        <ActionMenu
          position="top-end"
          button={(props) => (
            <Button
              variant="default"
              px="xs"
              style={{ flex: 'none' }}
              aria-label="More about this exception"
              {...props}
            >
              <IconDots size={18} />
            </Button>
          )}
          entries={[
            ...(mayTriage && !isIgnored ? [{ text: 'Ignore', onClick: set('ignored') }] : []),
            ...(mayTriage ? [{ text: 'Snooze until …', onClick: () => setIsSnoozing(true) }] : []),
            ...(mayCreateRule
              ? [
                  {
                    text: 'Create a rule',
                    onClick: () =>
                      void navigate({ to: '/rules/new', search: { service: serviceId, kind: 'exception' } }),
                  },
                ]
              : []),
          ]}
        />
      ) : (
        mayCreateRule && (
          <Button
            variant="default"
            leftSection={<IconBellPlus size={16} />}
            renderRoot={(props) => (
              <Link to="/rules/new" search={{ service: serviceId, kind: 'exception' }} {...props} />
            )}
          >
            Create a rule
          </Button>
        )
      )}
    </ItemActions>
  );
}

/** Button that asks for one mail when a resolved exception comes back, or for none. */
function WatchButton({ groupId, isWatched }: { readonly groupId: string; readonly isWatched: boolean }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const watching = useMutation({
    mutationFn: (isWatched: boolean) => invoke(orgId, 'watch_exception', { groupId, isWatched }),
    onError: (error) => showError('This was not changed', error),
    onSuccess: (done) =>
      showSuccess(done.isWatched ? 'You get one mail if it comes back.' : 'You are not told if it comes back.'),
    onSettled: () => refreshExceptions(queryClient, orgId, [groupId]),
  });
  return (
    <TextButton aria-pressed={isWatched} onClick={() => watching.mutate(!isWatched)}>
      {isWatched ? 'You are told if it comes back' : 'Tell me if it comes back'}
    </TextButton>
  );
}
