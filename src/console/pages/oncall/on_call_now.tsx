import { ActionIcon, Button, Group, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';

import type { ResultOf } from '#console/api/actions.ts';
import { teamWarningsQuery } from '#console/api/home.ts';
import { type Member, membersQuery } from '#console/api/organization.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { Name, Sentence } from '#console/components/text/name.tsx';
import { PersonColors } from '#console/components/text/person_dot.tsx';
import { dateFormat } from '#console/components/text/time_text.ts';
import { IconAlertTriangle, IconCalendarUser, IconChevronLeft, IconChevronRight, IconPlus } from '#console/icons.ts';
import { OwnCalendarButton } from '#console/pages/me/own_calendar_button.tsx';
import { Agenda } from '#console/pages/oncall/agenda.tsx';
import { Gaps } from '#console/pages/oncall/gaps.tsx';
import { viewerZone } from '#console/pages/oncall/span_text.ts';
import { Timeline } from '#console/pages/oncall/timeline.tsx';
import { TIMELINE_VIEWS, type TimelineFilter, type TimelineView } from '#console/pages/oncall/timeline_filter.ts';
import {
  addToRange,
  dayText,
  findDay,
  rangeOf,
  type TimelineRange,
  VIEW_NAMES,
} from '#console/pages/oncall/timeline_range.ts';
import {
  type Selection,
  type ShownSchedule,
  type ShownTimeline,
  useTimeline,
} from '#console/pages/oncall/use_timeline.ts';
import { inLocalTime } from '#console/pages/policies/warnings.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { UNREADABLE_KINDS } from '#modules/unreadable_rows/decide/unreadable_kinds.ts';
import classes from '#console/pages/oncall/on_call_now.module.css';
import warningsClasses from '#console/pages/policies/warnings.module.css';

const CreateTeam = lazyDialog(() => import('#console/pages/oncall_teams/create_team.tsx').then((m) => m.CreateTeam));
const PersonLine = lazyPart(() => import('#console/pages/oncall_teams/person_line.tsx').then((m) => m.PersonLine));
const PutOnCall = lazyDialog(() => import('#console/pages/oncall/override/put_on_call.tsx').then((m) => m.PutOnCall));
const ShiftDialog = lazyDialog(() => import('#console/pages/oncall/shift_dialog.tsx').then((m) => m.ShiftDialog));

const route = getRouteApi('/inside/on-call/oncall');

/** Page of who is on call now, and over the next weeks. */
export function OnCallNow() {
  const { org, may } = useOrganization();
  const warnings = useQuery(teamWarningsQuery(org.orgId));
  const { view, range, team, person, put, show, move } = useShownTime();
  const member = useMember(person);
  const whole = useTimeline(range, { teamId: team, userId: person });
  const { query } = whole;
  const timeline = useMemo(
    () => (person === undefined ? whole.timeline : ofPerson(whole.timeline, person)),
    [whole.timeline, person],
  );
  const [selected, setSelected] = useState<Selection | null>(null);
  const [isPutting, setIsPutting] = useState(false);
  useOpenedByAddress('put', () => setIsPutting(true));
  const isSmall = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  const mayEdit = may('oncall:edit');
  const create = mayEdit && (
    <Button component={Link} to="/oncall/schedules/new" leftSection={<IconPlus size={18} />}>
      Create a schedule
    </Button>
  );
  useShortcut('t', () => show({ day: undefined }));
  const schedule = timeline?.schedules.find(({ scheduleId }) => scheduleId === selected?.scheduleId);
  const isEmpty = timeline?.total === 0 && team === undefined && person === undefined;
  const shown = { range, isStale: query.isPlaceholderData, onOpen: setSelected };
  return (
    <Page
      title="On-call"
      permission="oncall:edit"
      lead="Who is on call, now and later."
      actions={
        isEmpty ? undefined : (
          <>
            <OwnCalendarButton />
            {mayEdit && (
              <Button variant="default" disabled={timeline === null} onClick={() => setIsPutting(true)}>
                Put somebody on call
              </Button>
            )}
            {create}
          </>
        )
      }
    >
      {query.error !== null && timeline === null && (
        <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />
      )}
      {isEmpty && <NoSchedule hasTeam={timeline.teamCount > 0} create={create} />}
      {!isEmpty && (timeline !== null || query.error === null) && (
        <>
          {member !== undefined && timeline !== null && (
            <Stack mb="md">
              <PersonLine
                member={member}
                schedules={timeline.schedules}
                onPut={() => show({ put: member.userId })}
                onClose={() => show({ person: undefined })}
              />
            </Stack>
          )}
          <Toolbar view={view} range={range} team={team} onShow={show} onMove={move} />
          {timeline === null || warnings.isPending ? (
            <Skeleton height={320} radius="lg" />
          ) : (
            <PersonColors value={timeline.colorOf}>
              {person === undefined && mayEdit && <TeamWarnings warnings={warnings.data} teamId={team} />}
              {person === undefined && <Gaps schedules={timeline.schedules} onOpen={setSelected} />}
              {isSmall ? (
                <Agenda {...shown} timeline={timeline} />
              ) : (
                <Timeline {...shown} timeline={timeline} onMove={move} onMark={mayEdit ? setSelected : undefined} />
              )}
            </PersonColors>
          )}
          <LoadMore list={query} />
        </>
      )}
      {(isPutting || put !== undefined) && mayEdit && timeline !== null && (
        <PutOnCall
          userId={put ?? null}
          schedules={timeline.schedules}
          scheduleCount={timeline.scheduleCount}
          onClose={() => {
            setIsPutting(false);
            if (put !== undefined) show({ put: undefined });
          }}
        />
      )}
      {selected !== null && schedule !== undefined && timeline !== null && (
        <PersonColors value={timeline.colorOf}>
          <ShiftDialog
            selection={selected}
            schedule={schedule}
            nameOf={timeline.nameOf}
            onClose={() => setSelected(null)}
          />
        </PersonColors>
      )}
    </Page>
  );
}

interface NoScheduleProps {
  readonly hasTeam: boolean;
  /** Link to a new schedule; false for somebody who may not create one. */
  readonly create: ReactNode;
}

/** Empty state that offers to create a team first. Whoever creates a schedule at once names the team there. */
function NoSchedule({ hasTeam, create }: NoScheduleProps) {
  const [isCreating, setIsCreating] = useState(false);
  const actions =
    create === false ? undefined : hasTeam ? (
      create
    ) : (
      <>
        <Button leftSection={<IconPlus size={18} />} onClick={() => setIsCreating(true)}>
          Create a team
        </Button>
        <Button component={Link} to="/oncall/schedules/new" variant="default">
          Create a schedule
        </Button>
      </>
    );
  return (
    <EmptyState
      icon={<IconCalendarUser size={24} />}
      title={hasTeam ? 'No schedule yet' : 'No team yet'}
      {...(actions !== undefined && { actions })}
    >
      {!hasTeam && 'A team has the people who are on call together, and how each is reached. '}A schedule says whose
      turn it is to be paged, and when turns change hands.
      {create === false && ' Your role may not create one: ask an editor.'}
      {isCreating && <CreateTeam onClose={() => setIsCreating(false)} />}
    </EmptyState>
  );
}

/** Returns the member whom the address names; undefined for none, and until they are loaded. */
function useMember(userId: string | undefined): Member | undefined {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({
    ...membersQuery(orgId, { userIds: [userId ?? ''], limit: 1 }),
    enabled: userId !== undefined,
  });
  return userId === undefined ? undefined : data?.members[0];
}

/** Returns the timeline with the schedules in which the person has a shift. */
function ofPerson(timeline: ShownTimeline | null, userId: string): ShownTimeline | null {
  if (timeline === null) return null;
  const isTheirs = ({ shifts }: ShownSchedule): boolean => shifts.some(({ userIds }) => userIds.includes(userId));
  return { ...timeline, schedules: timeline.schedules.filter(isTheirs) };
}

/** Returns the view, the period, the team and the person in the address, and the functions that change them. */
function useShownTime() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { view = 'two_weeks', team, person, put } = filter;
  const today = dayText(new Date());
  const day = findDay(filter.day ?? today) ?? new Date();
  const time = day.getTime();
  const range = useMemo(() => rangeOf(view, new Date(time)), [view, time]);
  const show = (changes: { [Key in keyof TimelineFilter]?: TimelineFilter[Key] | undefined }): void => {
    const { view: wanted, day: at, team: of, person: who, put: next } = { ...filter, ...changes };
    const search: TimelineFilter = {
      ...(wanted !== undefined && wanted !== 'two_weeks' && { view: wanted }),
      ...(at !== undefined && { day: at }),
      ...(of !== undefined && { team: of }),
      ...(who !== undefined && { person: who }),
      ...(next !== undefined && { put: next }),
    };
    void navigate({ search, replace: true, resetScroll: false });
  };
  const move = (by: 1 | -1): void => show({ day: dayText(addToRange(view, new Date(range.from), by)) });
  return { view, range, team, person, put, show, move };
}

interface ToolbarProps {
  readonly view: TimelineView;
  readonly range: TimelineRange;
  readonly team: string | undefined;
  readonly onShow: (
    changes: Partial<Record<keyof TimelineFilter, string | undefined>> & { view?: TimelineView },
  ) => void;
  readonly onMove: (by: 1 | -1) => void;
}

const RANGE = dateFormat({ day: 'numeric', month: 'short', year: 'numeric' });

function Toolbar({ view, range, team, onShow, onMove }: ToolbarProps) {
  const last = range.days.at(-1)?.start ?? range.from;
  return (
    <div className={`${classes.toolbar} row wraps`}>
      <Group gap={4} wrap="nowrap">
        <ActionIcon variant="default" size={36} onClick={() => onMove(-1)} aria-label="Earlier">
          <IconChevronLeft size={18} />
        </ActionIcon>
        <ActionIcon variant="default" size={36} onClick={() => onMove(1)} aria-label="Later">
          <IconChevronRight size={18} />
        </ActionIcon>
        <Button variant="default" onClick={() => onShow({ day: undefined })}>
          Today
        </Button>
      </Group>
      <h2 className={`${classes.range} flush numbers`} aria-live="polite">
        {RANGE.formatRange(range.from, last)}
      </h2>
      <span className={`${classes.zone} dimmed small`}>{viewerZone()}</span>
      <TeamPicker
        label="Team"
        isLabelHidden
        placeholder="All teams"
        className={classes.team}
        value={team ?? null}
        onChange={(teamId) => onShow({ team: teamId ?? undefined })}
      />
      <SegmentedControl
        aria-label="How much time"
        value={view}
        onChange={(value) => onShow({ view: TIMELINE_VIEWS.find((candidate) => candidate === value) ?? 'two_weeks' })}
        data={TIMELINE_VIEWS.map((value) => ({ value, label: VIEW_NAMES[value] }))}
      />
    </div>
  );
}

const SHOWN_MAX = 5;

interface TeamWarningsProps {
  /** Warnings; undefined if they could not be loaded. */
  readonly warnings: ResultOf<'get_paging_problems'> | undefined;
  /** Team whose warnings are shown; undefined for all teams. */
  readonly teamId: string | undefined;
}

/** List of why pages of the teams might reach nobody, besides gaps: one line each, with a link to the fix. */
function TeamWarnings({ warnings: passed, teamId }: TeamWarningsProps) {
  const { may } = useOrganization();
  const { warnings = [], warningCount = 0, unreadable = [] } = passed ?? {};
  const meant = warnings.filter((warning) => teamId === undefined || warning.teamId === teamId);
  const left = (teamId === undefined ? warningCount : meant.length) - Math.min(meant.length, SHOWN_MAX);
  // Teams warn of their own policies and schedules.
  const others = teamId === undefined ? unreadable.filter(({ kind }) => kind !== 'policy' && kind !== 'schedule') : [];
  if (meant.length === 0 && others.length === 0) return null;
  return (
    <ul className={warningsClasses.warnings} aria-label="Warnings">
      {meant.slice(0, SHOWN_MAX).map(({ teamId: id, teamName, kind, message, policyId }) => (
        <li key={`${id} ${message}`} className={`${warningsClasses.warning} spaced small`}>
          <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
          <span>
            {policyId === null ? (
              <Link to="/oncall/teams/$teamId" params={{ teamId: id }}>
                <Name>{teamName}</Name>
              </Link>
            ) : (
              <Link to="/oncall/policies/$policyId" params={{ policyId }}>
                <Name>{teamName}</Name>
              </Link>
            )}
            : <Sentence>{inLocalTime(message)}</Sentence>{' '}
            {kind === 'schedule_pages_nobody' && may('oncall:edit') && (
              <Link to="/oncall/policies/new" search={{ team: id }}>
                Create a policy
              </Link>
            )}
          </span>
        </li>
      ))}
      {others.map(({ kind, message }) => (
        <li key={message} className={`${warningsClasses.warning} spaced small`}>
          <IconAlertTriangle size={16} stroke={1.75} aria-hidden />
          <Link to={UNREADABLE_KINDS[kind].page}>
            <Sentence>{message}</Sentence>
          </Link>
        </li>
      ))}
      {left > 0 && (
        <li className={`${warningsClasses.warning} spaced small`}>
          <Link to="/oncall/teams">
            And {left} more in {left === 1 ? 'a team' : 'teams'}
          </Link>
        </li>
      )}
    </ul>
  );
}
