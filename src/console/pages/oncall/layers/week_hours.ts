import { toZoneField } from '#console/pages/oncall/schedule_draft.ts';
import type { TimelineRange } from '#console/pages/oncall/timeline_range.ts';

/** Hours of the week as they are stored, days from Monday as 1. */
export interface WeekWindow {
  readonly fromDay: number;
  readonly from: string;
  readonly toDay: number;
  readonly to: string;
}

/** Hours that begin at one time on several days of the week. */
export interface HoursRow {
  /** Days on which they begin, from Monday as 1. */
  readonly days: readonly number[];
  readonly from: string;
  /** Time at which they end; the next day unless it is after `from`. */
  readonly to: string;
  /** Days by which they end later than that. */
  readonly later: number;
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const UNIT_MINUTES = { hours: 60, days: DAY_MINUTES, weeks: WEEK_MINUTES } as const;
const HALF_HOUR_MS = 30 * MINUTE_MS;
const WEEK_MS = WEEK_MINUTES * MINUTE_MS;
/** Most edges of one layer that are shown; the fields have all. */
const EDGES_MAX = 42;

const WORKDAYS = [1, 2, 3, 4, 5];
const EVERY_DAY = [...WORKDAYS, 6, 7];

/** Hours that most layers have. */
export const USUAL_HOURS: readonly { readonly name: string; readonly hours: readonly HoursRow[] }[] = [
  { name: 'Nights', hours: [{ days: EVERY_DAY, from: '17:00', to: '09:00', later: 0 }] },
  { name: 'Weekends', hours: [{ days: [5], from: '17:00', to: '09:00', later: 2 }] },
  { name: 'Office hours', hours: [{ days: WORKDAYS, from: '09:00', to: '17:00', later: 0 }] },
];

/** Returns the windows of the week as rows: those of several days with the same times are one. */
export function rowsOf(windows: readonly WeekWindow[]): HoursRow[] {
  return windows.reduce<HoursRow[]>(withWindow, []);
}

/** Adds a window to the row that has its times, or as a row. */
export function withWindow(rows: readonly HoursRow[], { fromDay, from, toDay, to }: WeekWindow): HoursRow[] {
  const minutes = minuteOf(toDay, to) - minuteOf(fromDay, from);
  const length = modulo(minutes, WEEK_MINUTES) || WEEK_MINUTES;
  const later = Math.floor((length - shortestMinutes(from, to)) / DAY_MINUTES);
  const place = rows.findIndex((row) => {
    return row.from === from && row.to === to && row.later === later && !row.days.includes(fromDay);
  });
  const row = rows[place];
  if (row === undefined) return [...rows, { days: [fromDay], from, to, later }];
  return rows.with(place, { ...row, days: [...row.days, fromDay].toSorted((a, b) => a - b) });
}

/** Returns the windows of the week that rows stand for; their times must be valid. */
export function windowsOf(rows: readonly HoursRow[]): WeekWindow[] {
  return rows.flatMap((row) => row.days.map((day) => windowOn(row, day)));
}

function windowOn({ from, to, later }: HoursRow, fromDay: number): WeekWindow {
  const end = minuteOf(fromDay, from) + shortestMinutes(from, to) + later * DAY_MINUTES;
  // The end of a day belongs to it.
  const toDay = dayOf(to === '24:00' ? end - 1 : end);
  return { fromDay, from, toDay, to };
}

/** Returns the number of days after its beginning on which a row ends. */
export function daysToEnd({ from, to, later }: HoursRow): number {
  return later + (timeMinutes(to) > timeMinutes(from) ? 0 : 1);
}

/** Returns what is wrong with the hours of a layer; null if nothing is. */
export function hoursFault(rows: readonly HoursRow[]): string | null {
  if (rows.length === 0) return 'Add hours, or choose always.';
  if (rows.some(({ days }) => days.length === 0)) return 'Choose at least one day.';
  const areTimes = rows.every(({ from, to }) => !Number.isNaN(timeMinutes(from) + timeMinutes(to)));
  return areTimes ? null : 'Enter times such as 09:00, up to 24:00.';
}

/** Returns the minutes from a time of the day until the other is next shown, a day at most. */
function shortestMinutes(from: string, to: string): number {
  return modulo(timeMinutes(to) - timeMinutes(from), DAY_MINUTES) || DAY_MINUTES;
}

/** Returns the window of the week that was marked with a pointer, by the wall clock of a zone. */
export function windowOf(since: number, until: number, timeZone: string): WeekWindow {
  const [start, end] = [roundToHalfHour(since), roundToHalfHour(Math.min(until, since + WEEK_MS))];
  const [from, to] = [toZoneField(start, timeZone), toZoneField(end, timeZone)];
  const isMidnight = to.slice(11) === '00:00';
  const last = isMidnight ? toZoneField(end - HALF_HOUR_MS, timeZone) : to;
  return {
    fromDay: weekdayOf(from),
    from: from.slice(11),
    toDay: weekdayOf(last),
    to: isMidnight ? '24:00' : to.slice(11),
  };
}

function roundToHalfHour(ms: number): number {
  return Math.round(ms / HALF_HOUR_MS) * HALF_HOUR_MS;
}

/** Returns the weekday of a local time, from Monday as 1. */
function weekdayOf(field: string): number {
  return ((new Date(`${field.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
}

/** Returns `Monday to Friday 09:00 to 17:00`. */
export function rowText(row: HoursRow): string {
  const { days, from, to } = row;
  const [first = 1, last = first] = [days[0], days.at(-1)];
  const areInRow = days.length > 2 && last - first === days.length - 1;
  const names = days.map((day) => (days.length === 1 ? dayName(day) : dayName(day).slice(0, 3)));
  const dayText =
    days.length === 0
      ? 'on no day'
      : days.length === 7
        ? 'every day'
        : areInRow
          ? `${dayName(first)} to ${dayName(last)}`
          : names.join(', ');
  const after = daysToEnd(row);
  const isOnDay = days.length === 1 && after > 0;
  const afterText = after === 0 ? '' : after === 1 ? ' the next day' : ` ${after} days later`;
  return `${dayText} ${from} to ${isOnDay ? `${dayName(windowOn(row, first).toDay)} ${to}` : `${to}${afterText}`}`;
}

export function dayName(day: number): string {
  return WEEKDAYS[modulo(day - 1, 7)] ?? '';
}

/** Edge of a bar that people move: beginning or end of hours, or a hand-over of a layer without hours. */
export interface BarEdge {
  readonly kind: 'begin' | 'end' | 'hand_over';
  /** Place of the row among the hours of the layer; 0 for a hand-over. */
  readonly place: number;
  /** Place among all edges of this kind; it stays while an edge is moved. */
  readonly count: number;
  readonly at: number;
  /** Time as people read it: `Monday 09:00`. */
  readonly text: string;
}

/** Fields of a layer by which its bar is moved. */
export interface BarLayer {
  readonly every: string;
  readonly unit: 'hours' | 'days' | 'weeks' | 'months';
  readonly turns: readonly unknown[];
  readonly startsAt: string;
  readonly hours: readonly HoursRow[] | null;
}

interface BarTime {
  readonly timeZone: string;
  readonly now: number;
}

/** Returns the edges of a layer within a week. Months hand over on a date, which the form says. */
export function edgesOf(layer: BarLayer, range: Pick<TimelineRange, 'from' | 'to'>, time: BarTime): BarEdge[] {
  if (layer.hours === null) return handOverOf(layer, range, time);
  const first = localMinutes(range.from, time.timeZone);
  const windows = layer.hours.flatMap((row, place) => row.days.map((day) => ({ place, window: windowOn(row, day) })));
  return windows.slice(0, EDGES_MAX / 2).flatMap(({ place, window }, count) =>
    (['begin', 'end'] as const).flatMap((kind): BarEdge[] => {
      const [day, text] = kind === 'begin' ? [window.fromDay, window.from] : [window.toDay, window.to];
      const minute = minuteOf(day, text);
      if (Number.isNaN(minute)) return [];
      const at = instantOf(first + modulo(minute - weekMinuteOf(first), WEEK_MINUTES), time.timeZone);
      return at > range.to ? [] : [{ kind, place, count, at, text: `${dayName(day)} ${text}` }];
    }),
  );
}

function handOverOf(
  { every, unit, startsAt, turns }: BarLayer,
  range: Pick<TimelineRange, 'from' | 'to'>,
  { timeZone, now }: BarTime,
): BarEdge[] {
  const start = Date.parse(`${startsAt}Z`) / MINUTE_MS;
  const length = unit === 'months' ? Number.NaN : Number(every) * UNIT_MINUTES[unit];
  if (!(length > 0) || Number.isNaN(start) || turns.length < 2) return [];
  const passed = Math.max(0, Math.ceil((localMinutes(now, timeZone) - start) / length));
  const minute = start + passed * length;
  const at = instantOf(minute, timeZone);
  const text = `${dayName(dayOf(weekMinuteOf(minute)))} ${timeText(minute)}`;
  return at < range.from || at > range.to ? [] : [{ kind: 'hand_over', place: 0, count: 0, at, text }];
}

/** Returns the changes of a layer whose edge is moved, on all days of its row; none where hours would have no length. */
export function withEdgeMoved(
  layer: BarLayer,
  { kind, place }: Pick<BarEdge, 'kind' | 'place'>,
  byMinutes: number,
): Partial<Pick<BarLayer, 'startsAt' | 'hours'>> {
  if (kind === 'hand_over') {
    const moved = new Date(Date.parse(`${layer.startsAt}Z`) + byMinutes * MINUTE_MS);
    return { startsAt: moved.toISOString().slice(0, 16) };
  }
  const row = layer.hours?.[place];
  if (layer.hours === null || row === undefined) return {};
  const length = shortestMinutes(row.from, row.to) + row.later * DAY_MINUTES + (kind === 'end' ? 1 : -1) * byMinutes;
  if (!(length > 0 && length <= WEEK_MINUTES)) return {};
  const begin = timeMinutes(row.from) + (kind === 'begin' ? byMinutes : 0);
  const from = timeText(begin);
  const end = timeText(begin + length);
  const to = kind === 'end' && end === '00:00' ? '24:00' : kind === 'end' ? end : row.to;
  const later = (length - shortestMinutes(from, to)) / DAY_MINUTES;
  const days = row.days.map((day) => dayOf((day - 1) * DAY_MINUTES + begin));
  return { hours: layer.hours.with(place, { days, from, to, later }) };
}

/** Returns the minute of the week, from Monday at midnight; NaN while the field holds no time. */
function minuteOf(day: number, time: string): number {
  return (day - 1) * DAY_MINUTES + timeMinutes(time);
}

/** Returns the minute of a day; NaN for what is no time. */
function timeMinutes(time: string): number {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
  return time === '24:00' ? DAY_MINUTES : Number(hours) * 60 + Number(minutes);
}

function timeText(minutes: number): string {
  const minute = modulo(minutes, DAY_MINUTES);
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

/** Returns the day of a minute of the week, from Monday as 1. */
function dayOf(minute: number): number {
  return modulo(Math.floor(minute / DAY_MINUTES), 7) + 1;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/** Returns the wall clock of a zone as minutes, as if it were that of UTC. */
function localMinutes(at: number, timeZone: string): number {
  return Date.parse(`${toZoneField(at, timeZone)}Z`) / MINUTE_MS;
}

/** Returns the minute of the week of a wall clock; 1970 began on a Thursday. */
function weekMinuteOf(minutes: number): number {
  return modulo(minutes + 3 * DAY_MINUTES, WEEK_MINUTES);
}

/** Returns when the wall clock of a zone shows these minutes; after a skipped time where it never does. */
function instantOf(minutes: number, timeZone: string): number {
  const guess = (2 * minutes - localMinutes(minutes * MINUTE_MS, timeZone)) * MINUTE_MS;
  return guess + (minutes - localMinutes(guess, timeZone)) * MINUTE_MS;
}
