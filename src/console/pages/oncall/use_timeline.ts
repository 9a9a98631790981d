import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { serverNow } from '#console/api/http.ts';
import { onCallTimelineQuery, type ScheduleOverTime } from '#console/api/teams.ts';
import type { ColorOf } from '#console/components/text/person_dot.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import type { TimelineView } from './timeline_filter.ts';

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

export const VIEW_NAMES: Record<TimelineView, string> = {
  week: 'Week',
  two_weeks: '2 weeks',
  month: 'Month',
  quarter: 'Quarter',
};

/** Range `[from, to)` in milliseconds, and the days in it, in the viewer's zone. */
export interface TimelineRange {
  readonly from: number;
  readonly to: number;
  readonly days: readonly TimelineDay[];
}

export interface TimelineDay {
  readonly start: number;
  readonly end: number;
}

/** Longest range whose days are marked; longer ones have room for weeks. */
const DAYS_MARKED_MAX = 35;

/** Weeks of each view: people look at what is to come, so a month does not begin with days that are over. */
const WEEKS: Record<TimelineView, number> = { week: 1, two_weeks: 2, month: 5, quarter: 13 };

/** Returns what is marked in a range: its days, or the weeks of a long one. */
export function marksOf({ days }: TimelineRange): readonly TimelineDay[] {
  if (days.length <= DAYS_MARKED_MAX) return days;
  const weeks: TimelineDay[] = [];
  for (const { start, end } of days) {
    const last = weeks.at(-1);
    if (last === undefined || new Date(start).getDay() === 1) weeks.push({ start, end });
    else weeks[weeks.length - 1] = { start: last.start, end };
  }
  return weeks;
}

/** Returns the range that begins with the week of a day, on its Monday. */
export function rangeOf(view: TimelineView, day: Date): TimelineRange {
  return daysBetween(mondayOf(day), addToRange(view, day, 1));
}

export function monthOf(day: Date): TimelineRange {
  const [year, month] = [day.getFullYear(), day.getMonth()];
  return daysBetween(localDay(year, month, 1), localDay(year, month + 1, 1));
}

/** Returns the range of so many days that begins with a day. */
export function rangeFrom(day: Date, count: number): TimelineRange {
  const [year, month, date] = [day.getFullYear(), day.getMonth(), day.getDate()];
  return daysBetween(localDay(year, month, date), localDay(year, month, date + count));
}

function daysBetween(first: Date, end: Date): TimelineRange {
  const days: TimelineDay[] = [];
  for (let start = first; start < end;) {
    const next = localDay(start.getFullYear(), start.getMonth(), start.getDate() + 1);
    // A day that the calendar of a zone skips has no length.
    if (next > start) days.push({ start: start.getTime(), end: next.getTime() });
    start = next > start ? next : localDay(start.getFullYear(), start.getMonth(), start.getDate() + 2);
  }
  return { from: first.getTime(), to: end.getTime(), days };
}

/** Returns the first day of the range, `by` ranges later. */
export function addToRange(view: TimelineView, day: Date, by: number): Date {
  const monday = mondayOf(day);
  return localDay(monday.getFullYear(), monday.getMonth(), monday.getDate() + 7 * WEEKS[view] * by);
}

function mondayOf(day: Date): Date {
  return localDay(day.getFullYear(), day.getMonth(), day.getDate() - ((day.getDay() + 6) % 7));
}

/** Returns the first instant of a day, which is not midnight where the clocks skip it. */
function localDay(year: number, month: number, date: number): Date {
  return new Date(year, month, date);
}

export function dayText(day: Date): string {
  const pad = (number: number) => String(number).padStart(2, '0');
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;
}

/** Parses a day; null if the text is not a day of the years 1971 to 2198, which the server accepts. */
export function findDay(text: string): Date | null {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined || year < 1971 || year > 2198) return null;
  const day = localDay(year, month - 1, date);
  return day.getMonth() === month - 1 && day.getDate() === date ? day : null;
}

/** Returns the position of an instant in the range, in percent; instants outside are at its edges. */
export function placeOf(at: number, { from, to }: Pick<TimelineRange, 'from' | 'to'>): number {
  return (100 * (Math.min(Math.max(at, from), to) - from)) / (to - from);
}
