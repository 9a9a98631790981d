import { TURNS_MAX } from '#modules/moving_in/decide/merge_patterns.ts';
import {
  HOUR_MS,
  MINUTE_MS,
  type Pattern,
  smallestMultiple,
  spansOf,
  WEEK_MS,
} from '#modules/moving_in/decide/pattern.ts';
import type { Interval } from '#modules/moving_in/decide/walk.ts';
import { daysOfMonth, monthsBetween, utcFieldsOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

/** An event that repeats by the wall clock, and the groups of people who take turns at it. */
export interface Recurrence {
  readonly startWall: number;
  readonly durationMs: number;
  readonly frequency: 'hourly' | 'daily' | 'weekly' | 'monthly';
  readonly interval: number;
  /** Days of the week, Monday 0; empty: that of the start. */
  readonly days: readonly number[];
  /** Days of the month, below 0 from its end, and months of the year; absent: any. */
  readonly monthDays?: readonly number[];
  readonly months?: readonly number[];
  /** First day of a week, Monday 0. */
  readonly weekStart: number;
  readonly groups: readonly (readonly string[])[];
  /** Whether the group changes with each event, or with each period of `interval` hours, days, weeks or months. */
  readonly changesBy: 'event' | 'period';
  /** Events or periods until the group changes. */
  readonly perGroup: number;
}

type Turns = Pick<Pattern, 'anchorWall' | 'length' | 'turns' | 'hours'>;

/** Returns turns and hours that say the same, or in the form that follows "because" why none do. */
export function patternOfRecurrence(recurrence: Recurrence): Turns | { readonly because: string } {
  const { frequency, durationMs, interval, groups } = recurrence;
  if (groups.length === 0) return { anchorWall: recurrence.startWall, length: { ms: WEEK_MS }, turns: [], hours: null };
  if (recurrence.monthDays !== undefined || recurrence.months !== undefined)
    return { because: 'an event depends on days of the month or on months' };
  if (durationMs % MINUTE_MS !== 0) return { because: 'an event lasts no whole minutes' };
  switch (frequency) {
    case 'hourly':
      return durationMs === interval * HOUR_MS
        ? wholeTurns(recurrence, { ms: durationMs })
        : { because: 'an event repeats by the hour and leaves pauses' };
    case 'monthly':
      return { because: 'an event repeats by the month' };
    case 'daily':
    case 'weekly': {
      const unit = frequency === 'daily' ? DAY_MS : WEEK_MS;
      const isPlain =
        recurrence.days.length === 0 ||
        (frequency === 'weekly' &&
          recurrence.days.length === 1 &&
          recurrence.days[0] === weekdayOf(recurrence.startWall));
      if (isPlain && durationMs === interval * unit) return wholeTurns(recurrence, { ms: durationMs });
      return daySlots(recurrence);
    }
  }
}

function wholeTurns({ startWall, groups, perGroup }: Recurrence, length: { readonly ms: number }): Turns {
  return {
    anchorWall: startWall,
    length,
    turns: groups.flatMap((group) => Array.from({ length: perGroup }, () => group)),
    hours: null,
  };
}

/** Gives each day, counted from the time of day of the start, a turn; days without an event have nobody. */
function daySlots(recurrence: Recurrence): Turns | { readonly because: string } {
  const { startWall, durationMs, frequency, interval, groups, perGroup } = recurrence;
  const round = groups.length * perGroup;
  const days = daysOf(recurrence);
  const isByWeek = frequency === 'weekly' || recurrence.days.length > 0;
  const period = isByWeek
    ? 7 *
      (frequency === 'weekly' ? interval : 1) *
      (recurrence.changesBy === 'period' ? round : smallestMultiple(days.length, round) / days.length)
    : interval * round;
  if (period > TURNS_MAX) return { because: `an event repeats after ${period} days only` };
  const lasting = Math.ceil(durationMs / DAY_MS);
  const turns: (readonly string[])[] = Array.from({ length: period }, () => []);
  for (const { day, group } of eventsOf(recurrence, period)) {
    for (let slot = day; slot < day + lasting; slot += 1) {
      if ((turns[slot % period]?.length ?? 0) > 0)
        return { because: 'an event begins before the one before has ended' };
      turns[slot % period] = group;
    }
  }
  const minutes = durationMs / MINUTE_MS;
  const timeOfDay = Math.floor((((startWall % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS);
  if (!isByWeek && minutes > 24 * 60 && durationMs % DAY_MS !== 0)
    return { because: 'an event of several days ends at another time of day' };
  const weekdays = isByWeek ? days : [0, 1, 2, 3, 4, 5, 6];
  const hours =
    !isByWeek && durationMs % DAY_MS === 0
      ? null
      : spansOf(weekdays.map((day) => ({ start: day * 24 * 60 + timeOfDay, minutes })));
  return { anchorWall: startWall, length: { ms: DAY_MS }, turns, hours };
}

function daysOf({ startWall, days }: Recurrence): readonly number[] {
  return days.length === 0 ? [weekdayOf(startWall)] : [...new Set(days)];
}

/** Returns the day of the week, Monday 0. */
export function weekdayOf(wall: number): number {
  return (((Math.floor(wall / DAY_MS) + 3) % 7) + 7) % 7;
}

/** Returns the events of the first days, each with its day counted from the start. */
function* eventsOf(
  recurrence: Recurrence,
  period: number,
): Generator<{ readonly day: number; readonly group: readonly string[] }> {
  const { startWall, frequency, interval, weekStart, groups, perGroup, changesBy } = recurrence;
  const isByWeek = frequency === 'weekly' || recurrence.days.length > 0;
  const days = daysOf(recurrence);
  const first = weekdayOf(startWall);
  const weekInterval = frequency === 'weekly' ? interval : 1;
  let event = 0;
  for (let day = 0; day < period; day += 1) {
    const week = Math.floor((day + ((first - weekStart + 7) % 7)) / 7);
    const isOn = isByWeek ? days.includes((first + day) % 7) && week % weekInterval === 0 : day % interval === 0;
    if (!isOn) continue;
    const count = changesBy === 'event' ? event : isByWeek ? week / weekInterval : day / interval;
    yield { day, group: groups[Math.floor(count / perGroup) % groups.length] ?? [] };
    event += 1;
  }
}

/**
 * Walks through the events one after the other, as RFC 5545 describes them, and returns those that overlap `[from, to)`.
 * Each begins at its time of the wall clock.
 */
export function walkEvents(
  recurrence: Recurrence,
  clock: ZoneClock,
  from: number,
  to: number,
): (Interval & { readonly people: readonly string[] })[] {
  const { durationMs, groups, perGroup, changesBy } = recurrence;
  const events: (Interval & { readonly people: readonly string[] })[] = [];
  let event = 0;
  for (const { wall, period } of wallsOf(recurrence)) {
    const start = clock.instantOf(wall);
    if (start >= to) break;
    const end = clock.instantOf(wall + durationMs);
    const count = changesBy === 'event' ? event : period;
    event += 1;
    if (end > from && groups.length > 0)
      events.push({ from: start, to: end, people: groups[Math.floor(count / perGroup) % groups.length] ?? [] });
  }
  return events;
}

/** Limit on the days that are walked through: beyond, nothing was found that begins. */
const DAYS_MAX = 40_000;

/** Yields the beginnings of events, each with the number of its period. */
function* wallsOf(recurrence: Recurrence): Generator<{ readonly wall: number; readonly period: number }> {
  const { startWall, frequency, interval, days, weekStart } = recurrence;
  if (frequency === 'hourly')
    for (let period = 0; ; period += 1) yield { wall: startWall + period * interval * HOUR_MS, period };
  const sinceWeekStart = (weekdayOf(startWall) - weekStart + 7) % 7;
  const weekdays = days.length === 0 && frequency === 'weekly' ? [weekdayOf(startWall)] : days;
  const monthDays =
    recurrence.monthDays ?? (frequency === 'monthly' && weekdays.length === 0 ? [utcFieldsOf(startWall).day] : null);
  for (let day = 0; day < DAYS_MAX; day += 1) {
    const wall = startWall + day * DAY_MS;
    const { year, month, day: monthDay } = utcFieldsOf(wall);
    const count =
      frequency === 'monthly'
        ? monthsBetween(startWall, wall)
        : frequency === 'weekly' || weekdays.length > 0
          ? Math.floor((day + sinceWeekStart) / 7)
          : day;
    const every = frequency === 'daily' && weekdays.length > 0 ? 1 : interval;
    if (count % every !== 0 || (weekdays.length > 0 && !weekdays.includes(weekdayOf(wall)))) continue;
    const dayFromEnd = monthDay - daysOfMonth(year, month) - 1;
    if (monthDays !== null && !monthDays.includes(monthDay) && !monthDays.includes(dayFromEnd)) continue;
    if (recurrence.months !== undefined && !recurrence.months.includes(month)) continue;
    yield { wall, period: count / every };
  }
}
