import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { onCallTimelineQuery, type ScheduleOverTime } from '#console/api/teams.ts';
import { serverNow } from '#console/api/http.ts';
import type { ColorOf } from '#console/components/text/person_dot.tsx';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const REFRESH_MS_MAX = 10 * 60_000;
const REFRESH_MS_MIN = 5_000;

/** Schedule with the data of its page and its row. */
export type ShownSchedule = ScheduleOverTime;

export interface ShownTimeline {
  readonly schedules: readonly ShownSchedule[];
  readonly teamCount: number;
  /** Returns the name of somebody, or a word for somebody who has left. */
  nameOf(userId: string | null): string;
  readonly colorOf: ColorOf;
  /** Number of schedules that are meant. */
  readonly total: number;
  readonly scheduleCount: number;
}

interface TimelineOf {
  readonly teamId?: string | undefined;
  /** Person whom the schedules name; undefined for anybody. */
  readonly userId?: string | undefined;
  readonly scheduleId?: string | undefined;
}

/** Returns the schedules over this time. The previous ones stay while another time is loading. */
export function useTimeline(
  { from, to }: Pick<TimelineRange, 'from' | 'to'>,
  { teamId, userId, scheduleId }: TimelineOf = {},
) {
  const { orgId } = useOrganization().org;
  const query = useInfiniteQuery({
    ...onCallTimelineQuery(orgId, {
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      ...(teamId !== undefined && { teamIds: [teamId] }),
      ...(userId !== undefined && { userId }),
      ...(scheduleId !== undefined && { scheduleIds: [scheduleId] }),
    }),
    placeholderData: keepPreviousData,
    // Who is on call changes at a hand-over, and the server says when the next one is.
    refetchInterval: ({ state }) => untilNextHandOver(state.data?.pages.flatMap(({ schedules }) => schedules) ?? []),
  });
  const { data } = query;
  const timeline = useMemo((): ShownTimeline | null => {
    const last = data?.pages.at(-1);
    if (data === undefined || last === undefined) return null;
    const people = new Map(data.pages.flatMap((page) => page.people).map((person) => [person.userId, person]));
    const schedules = new Map(
      data.pages.flatMap((page) => page.schedules).map((schedule) => [schedule.scheduleId, schedule]),
    );
    return {
      schedules: [...schedules.values()],
      teamCount: last.teamCount,
      nameOf: (userId) => (userId === null ? 'Nobody' : (people.get(userId)?.name ?? 'Somebody who has left')),
      colorOf: (userId) => people.get(userId)?.color,
      total: last.total,
      scheduleCount: last.scheduleCount,
    };
  }, [data]);
  return { timeline, query };
}

function untilNextHandOver(schedules: readonly ScheduleOverTime[]): number {
  const ends = schedules
    .flatMap(({ onCall, next }) => [onCall?.until, next?.at])
    .filter((at) => typeof at === 'string');
  const soonest = Math.min(...ends.map((at) => Date.parse(at) - serverNow()));
  return Math.min(REFRESH_MS_MAX, Math.max(REFRESH_MS_MIN, soonest + 1_000));
}

/** Shift, gap, or marked time of a schedule. */
export interface Selection {
  readonly scheduleId: string;
  /** Person on call; null: nobody, or not the same person all the time. */
  readonly userId: string | null;
  /** People on call at the same time; absent: nobody else. */
  readonly others?: readonly string[];
  readonly source: 'rotation' | 'override' | 'gap' | 'holiday' | 'marked';
  readonly since: number;
  readonly until: number | null;
}

/** Returns the parts of a row in order: shifts, and the gaps and holidays between them, within `[from, to)`. */
export function selectionsOf(
  {
    scheduleId,
    shifts,
    holidays,
    shownUntil,
  }: Pick<ShownSchedule, 'scheduleId' | 'shifts' | 'holidays' | 'shownUntil'>,
  from: number,
  to: number,
): readonly Selection[] {
  const selections: Selection[] = [];
  const end = shownUntil === null ? to : Math.min(to, Date.parse(shownUntil));
  const add = (source: 'gap' | 'holiday', since: number, until: number): void => {
    if (since < until) selections.push({ scheduleId, userId: null, source, since, until });
  };
  const addGap = (since: number, until: number): void => {
    let at = since;
    for (const holiday of holidays) {
      const [first, last] = [Math.max(at, Date.parse(holiday.since)), Math.min(until, Date.parse(holiday.until))];
      if (first >= last) continue;
      add('gap', at, first);
      add('holiday', first, last);
      at = last;
    }
    add('gap', at, until);
  };
  let at = from;
  for (const shift of shifts) {
    const since = Date.parse(shift.since);
    const until = shift.until === null ? null : Date.parse(shift.until);
    if (since >= end || (until !== null && until <= from)) continue;
    addGap(at, Math.min(since, end));
    const [userId = null, ...others] = shift.userIds;
    selections.push({ scheduleId, userId, others, source: shift.source, since, until });
    at = until ?? end;
  }
  addGap(at, end);
  return selections;
}

/** Returns the names of everybody on call, with "You" for the viewer; on a holiday without anybody, that. */
export function namesOf(
  { userId, others = [], source }: Pick<Selection, 'userId' | 'others' | 'source'>,
  nameOf: (userId: string | null) => string,
  viewer: string,
): string {
  if (source === 'holiday') return 'Holiday';
  return [userId, ...others].map((id) => (id === viewer ? 'You' : nameOf(id))).join(', ');
}
