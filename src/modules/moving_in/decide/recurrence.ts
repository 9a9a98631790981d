import {
  HOUR_MS,
  MINUTE_MS,
  type Pattern,
  smallestMultiple,
  spansOf,
  TURNS_MAX,
  WEEK_MS,
} from '#modules/moving_in/decide/pattern.ts';
import type { Interval } from '#modules/moving_in/decide/timeline.ts';
import { daysOfMonth, monthsBetween, utcFieldsOf, utcMs } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';

/** An event that repeats by the wall clock, and the groups of people who take turns at it. */
export interface Recurrence {
  readonly startWall: number;
  readonly durationMs: number;
  readonly frequency: 'hourly' | 'daily' | 'weekly' | 'monthly' | 'yearly';
  readonly interval: number;
  /** Days of the week, Monday 0; empty: that of the start. */
  readonly days: readonly number[];
  /** Days of the month, below 0 from its end, and months of the year; absent: any. */
  readonly monthDays?: readonly number[];
  readonly months?: readonly number[];
  /** Weeks of the month in which the days count, below 0 from its end, by day; absent: every week. */
  readonly weeksOfDays?: ReadonlyMap<number, readonly number[]>;
  /** Number of events, and time after which none begins; absent or null: without end. */
  readonly count?: number | null;
  readonly lastStart?: number | null;
  /** Beginnings of single events that do not take place, and of some that do beside the rule. */
  readonly excluded?: ReadonlySet<number>;
  readonly added?: readonly number[];
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
  if (
    recurrence.monthDays !== undefined ||
    recurrence.months !== undefined ||
    recurrence.weeksOfDays !== undefined ||
    frequency === 'yearly'
  )
    return { because: 'an event depends on days of the month or on months' };
  if ((recurrence.excluded?.size ?? 0) + (recurrence.added?.length ?? 0) > 0)
    return { because: 'single events are left out or added' };
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
      if (frequency === 'daily' && recurrence.days.length > 0 && interval > 1)
        return { because: 'an event repeats after some days, on some days of the week' };
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
 * Each begins at its time of the wall clock; an event that is left out is nobody's turn.
 */
export function walkEvents(
  recurrence: Recurrence,
  clock: ZoneClock,
  from: number,
  to: number,
): (Interval & { readonly people: readonly string[] })[] {
  const { durationMs, groups, perGroup, changesBy, frequency, startWall, interval, excluded } = recurrence;
  const events: (Interval & { readonly people: readonly string[] })[] = [];
  // Hours since long ago are not counted one by one.
  const passed =
    frequency === 'hourly' && Number.isFinite(from) && excluded === undefined
      ? Math.floor((clock.wallOf(from) - 2 * DAY_MS - durationMs - startWall) / (interval * HOUR_MS))
      : 0;
  let event = Math.max(0, passed);
  for (const { start, period } of startsOf(recurrence, clock, event)) {
    if (start >= to) break;
    const end = clock.instantOf(clock.wallOf(start) + durationMs);
    const count = changesBy === 'event' ? event : period;
    event += 1;
    if (end > from && groups.length > 0)
      events.push({ from: start, to: end, people: groups[Math.floor(count / perGroup) % groups.length] ?? [] });
  }
  return events;
}

/** Yields the beginnings of the events in order, each with the number of its period. */
function* startsOf(
  recurrence: Recurrence,
  clock: ZoneClock,
  first: number,
): Generator<{ readonly start: number; readonly period: number }> {
  const added = (recurrence.added ?? []).toSorted((a, b) => a - b);
  let next = 0;
  let count = first;
  let last = 0;
  for (const { wall, period } of wallsOf(recurrence, first)) {
    const start = clock.instantOf(wall);
    if (count >= (recurrence.count ?? Infinity) || start > (recurrence.lastStart ?? Infinity)) break;
    count += 1;
    last = period;
    for (; (added[next] ?? Infinity) < start; next += 1) yield { start: added[next] ?? start, period };
    if (added[next] === start) next += 1;
    if (recurrence.excluded?.has(start) !== true) yield { start, period };
  }
  for (const start of added.slice(next)) yield { start, period: last };
}

/** Returns the end of the last event; null if there is none. */
export function endOfLast(recurrence: Recurrence, clock: ZoneClock): number | null {
  const { count = null, lastStart = null } = recurrence;
  if (count === null && lastStart === null) return null;
  return walkEvents(recurrence, clock, -Infinity, Infinity).at(-1)?.to ?? 0;
}

const DAY_NAMES = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const FREQUENCIES: Readonly<Record<string, Recurrence['frequency']>> = {
  HOURLY: 'hourly',
  DAILY: 'daily',
  WEEKLY: 'weekly',
  MONTHLY: 'monthly',
  YEARLY: 'yearly',
};
/** Limit on the number of events that a rule may say. */
const COUNT_MAX = 100_000;
const PARTS = new Set(['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'WKST']);

type RecurrenceRule = Pick<
  Recurrence,
  'frequency' | 'interval' | 'days' | 'weeksOfDays' | 'monthDays' | 'months' | 'count' | 'lastStart' | 'weekStart'
>;

/** Reads a rule of RFC 5545, or says in the form that follows "because" why its events cannot be told. */
export function readRule(text: string, clock: ZoneClock): RecurrenceRule | { readonly because: string } {
  const because = `nothing here repeats by "${text.slice(0, 200)}"`;
  const parts = new Map(
    text
      .toUpperCase()
      .replace(/^RRULE:/, '')
      .split(';')
      .filter((part) => part !== '')
      .map((part) => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']),
  );
  const frequency = FREQUENCIES[parts.get('FREQ') ?? ''];
  const numbers = (name: string): number[] => (parts.get(name) ?? '').split(',').filter(Boolean).map(Number);
  const days = (parts.get('BYDAY') ?? '')
    .split(',')
    .filter(Boolean)
    .map((day) => ({ day: DAY_NAMES.indexOf(day.slice(-2)), week: day.length > 2 ? Number(day.slice(0, -2)) : null }));
  const [monthDays, months] = [numbers('BYMONTHDAY'), numbers('BYMONTH')];
  const until = parts.has('UNTIL') ? momentOfRule(parts.get('UNTIL') ?? '', clock) : null;
  const [interval = 1] = numbers('INTERVAL');
  const [count = null] = numbers('COUNT');
  const counted = [interval, count ?? 1, ...monthDays, ...months, ...days.map(({ week }) => week ?? 1)];
  const hasWeeks = days.some(({ week }) => week !== null);
  if (
    frequency === undefined ||
    [...parts.keys()].some((name) => !PARTS.has(name)) ||
    days.some(({ day }) => day < 0) ||
    counted.some((number) => !Number.isInteger(number) || number === 0) ||
    interval < 1 ||
    (count ?? 1) < 1 ||
    (count ?? 1) > COUNT_MAX ||
    (parts.has('UNTIL') && until === null) ||
    (frequency === 'hourly' && days.length + monthDays.length + months.length > 0) ||
    (frequency === 'weekly' && monthDays.length > 0) ||
    (hasWeeks && frequency !== 'monthly' && !(frequency === 'yearly' && months.length > 0))
  )
    return { because };
  const byDay = Map.groupBy(days, ({ day }) => day);
  const weeksOfDays = new Map<number, readonly number[]>();
  for (const [day, ofDay] of byDay) {
    const weeks = ofDay.flatMap(({ week }) => week ?? []);
    if (weeks.length === ofDay.length) weeksOfDays.set(day, weeks);
  }
  return {
    frequency,
    interval,
    days: [...byDay.keys()],
    ...(weeksOfDays.size > 0 && { weeksOfDays }),
    ...(monthDays.length > 0 && { monthDays }),
    ...(months.length > 0 && { months }),
    weekStart: Math.max(0, DAY_NAMES.indexOf(parts.get('WKST') ?? 'MO')),
    count,
    lastStart: until,
  };
}

/** Reads a time of a rule, such as its UNTIL: of a date, the end of its day. */
export function momentOfRule(text: string, clock: ZoneClock): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = '23', minute = '59', second = '59', isUtc] = match;
  const wall = utcMs(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  return isUtc === undefined ? clock.instantOf(wall) : wall;
}

/** Limit on the days that are walked through: beyond, nothing was found that begins. */
const DAYS_MAX = 40_000;

/** Yields the beginnings of events, each with the number of its period. */
function* wallsOf(
  recurrence: Recurrence,
  firstPeriod: number,
): Generator<{ readonly wall: number; readonly period: number }> {
  const { startWall, frequency, interval, days, weekStart } = recurrence;
  if (frequency === 'hourly')
    for (let period = firstPeriod; ; period += 1) yield { wall: startWall + period * interval * HOUR_MS, period };
  const sinceWeekStart = (weekdayOf(startWall) - weekStart + 7) % 7;
  const weekdays = days.length === 0 && frequency === 'weekly' ? [weekdayOf(startWall)] : days;
  const isOnDate = (frequency === 'monthly' || frequency === 'yearly') && weekdays.length === 0;
  const first = utcFieldsOf(startWall);
  const monthDays = recurrence.monthDays ?? (isOnDate ? [first.day] : null);
  const months = recurrence.months ?? (isOnDate && frequency === 'yearly' ? [first.month] : null);
  for (let day = 0; day < DAYS_MAX; day += 1) {
    const wall = startWall + day * DAY_MS;
    const { year, month, day: monthDay } = utcFieldsOf(wall);
    const count =
      frequency === 'monthly'
        ? monthsBetween(startWall, wall)
        : frequency === 'yearly'
          ? year - first.year
          : frequency === 'weekly'
            ? Math.floor((day + sinceWeekStart) / 7)
            : day;
    if (count % interval !== 0 || (weekdays.length > 0 && !weekdays.includes(weekdayOf(wall)))) continue;
    const dayFromEnd = monthDay - daysOfMonth(year, month) - 1;
    if (monthDays !== null && !monthDays.includes(monthDay) && !monthDays.includes(dayFromEnd)) continue;
    if (months !== null && !months.includes(month)) continue;
    const weeks = recurrence.weeksOfDays?.get(weekdayOf(wall));
    if (
      weeks !== undefined &&
      ![Math.ceil(monthDay / 7), -Math.ceil(-dayFromEnd / 7)].some((week) => weeks.includes(week))
    )
      continue;
    yield { wall, period: count / interval };
  }
}
