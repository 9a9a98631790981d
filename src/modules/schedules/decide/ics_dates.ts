import type { Temporal } from '#kernel/time.ts';
import { isoOf, parseIsoMs } from '#kernel/wall_clock.ts';
import { DAY_MS } from '#kernel/zone_clock.ts';

/** Limit on the dates of a calendar, typed in or fetched. */
export const HOLIDAYS_MAX = 2_000;
/** Longest event that is read as holidays, in days. */
const EVENT_DAYS_MAX = 62;
/** Years before and after this one for which an event of every year is counted. */
const YEARS_BEFORE = 1;
const YEARS_AFTER = 10;

/** Whether stored dates can be read, whoever wrote them. */
export function areDates(stored: unknown): stored is readonly string[] {
  return Array.isArray(stored) && stored.every((date) => typeof date === 'string');
}

/** Dates of a calendar as `YYYY-MM-DD`, in order; or why there are none. */
type IcsDates =
  | { readonly kind: 'dates'; readonly dates: readonly string[]; readonly leftOut: number }
  | { readonly kind: 'fault'; readonly fault: string };

/**
 * Reads the days of the events of an iCalendar file (RFC 5545). An event counts on each of its days, also one with times
 * of the day; of recurrences only those of every year are read, and the events with others are counted as left out.
 */
export function readIcsDates(text: string, today: Temporal.PlainDate): IcsDates {
  const lines = text.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/);
  if (!lines.some((line) => line.trim().toUpperCase() === 'BEGIN:VCALENDAR')) {
    return { kind: 'fault', fault: 'the answer is not an iCalendar file' };
  }
  const spans: Span[] = [];
  let leftOut = 0;
  let event: Map<string, string> | null = null;
  /** Alarms and the like within the event, whose properties are not its own. */
  let inner = 0;
  for (const line of lines) {
    const upper = line.trim().toUpperCase();
    if (event !== null && inner > 0) inner += upper.startsWith('BEGIN:') ? 1 : upper.startsWith('END:') ? -1 : 0;
    else if (upper === 'BEGIN:VEVENT') event = new Map();
    else if (event !== null && upper.startsWith('BEGIN:')) inner = 1;
    else if (upper === 'END:VEVENT') {
      const days = event === null ? null : spansOf(event, today.year);
      if (days === null) leftOut += 1;
      else spans.push(...days);
      event = null;
    } else if (event !== null) {
      const match = /^([A-Z-]+)(?:;(?:"[^"]*"|[^":])*)?:(.*)$/i.exec(line);
      if (match?.[1] !== undefined && match[2] !== undefined) event.set(match[1].toUpperCase(), match[2].trim());
    }
  }
  const days = daysOf(spans);
  if (days === null) {
    return { kind: 'fault', fault: `the calendar has more than ${HOLIDAYS_MAX} days: give one with holidays only` };
  }
  return { kind: 'dates', dates: days.map(isoOfDay), leftOut };
}

/** Run of days, counted from 1970; `until` is the first behind them. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/**
 * Returns each day of the spans once, in order; null if there are too many. Whoever made the file decides how many spans
 * name the same days, so that these are not counted day by day.
 */
function daysOf(spans: readonly Span[]): number[] | null {
  const days: number[] = [];
  let next = -Infinity;
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    for (let day = Math.max(from, next); day < until; day += 1) days.push(day);
    next = Math.max(next, until);
    if (days.length > HOLIDAYS_MAX) return null;
  }
  return days;
}

/** Returns the days of an event; null for one that cannot be read. */
function spansOf(event: ReadonlyMap<string, string>, thisYear: number): Span[] | null {
  const start = dateOf(event.get('DTSTART'));
  if (start === null) return null;
  if (event.get('STATUS')?.toUpperCase() === 'CANCELLED') return [];
  const length = Math.min(EVENT_DAYS_MAX, Math.max(1, lengthOf(start, event)));
  const rule = event.get('RRULE')?.toUpperCase();
  if (rule === undefined) return [{ from: start.day, until: start.day + length }];
  if (!/^FREQ=YEARLY(;INTERVAL=1)?(;WKST=\w\w)?$/.test(rule)) return null;
  return yearsAround(start.year, thisYear).flatMap((year) => {
    // The 29th of February is in leap years only.
    const from = dayOf(year, start.monthAndDay);
    return from === null ? [] : [{ from, until: from + length }];
  });
}

/** Returns the days on which an event is; below 1 for one that ends before it begins. */
function lengthOf(start: IcsDate, event: ReadonlyMap<string, string>): number {
  const end = dateOf(event.get('DTEND'));
  if (end !== null) return end.day - start.day + (end.hasTime ? 1 : 0);
  const [, weeks = '0', days = '0'] = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,4})D)?/i.exec(event.get('DURATION') ?? '') ?? [];
  return Number(weeks) * 7 + Number(days);
}

function yearsAround(first: number, thisYear: number): number[] {
  const from = Math.max(first, thisYear - YEARS_BEFORE);
  return Array.from({ length: Math.max(0, thisYear + YEARS_AFTER - from + 1) }, (_, index) => from + index);
}

interface IcsDate {
  readonly year: number;
  /** Rest of the date, like `-12-25`. */
  readonly monthAndDay: string;
  readonly day: number;
  /** Whether it goes on after midnight. */
  readonly hasTime: boolean;
}

/** Reads the date of `20270101` or `20270101T090000Z`. */
function dateOf(text: string | undefined): IcsDate | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{6})Z?)?$/i.exec(text ?? '');
  if (match === null) return null;
  const [year, monthAndDay] = [Number(match[1]), `-${match[2]}-${match[3]}`];
  const day = dayOf(year, monthAndDay);
  return day === null ? null : { year, monthAndDay, day, hasTime: (match[4] ?? '000000') !== '000000' };
}

/** Returns the day, counted from 1970; null for one that no calendar has. */
function dayOf(year: number, monthAndDay: string): number | null {
  const ms = parseIsoMs(`${String(year).padStart(4, '0')}${monthAndDay}`);
  return ms === null || !isoOf(ms).slice(4).startsWith(monthAndDay) ? null : ms / DAY_MS;
}

function isoOfDay(day: number): string {
  return isoOf(day * DAY_MS).slice(0, 10);
}

/** Longest line of iCalendar (RFC 5545, 3.1) and vCard, in bytes. */
const LINE_BYTES_MAX = 75;

/** Characters besides CR and LF that programs take for the end of a line. */
const LINE_BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Returns text of people as a value of a line: nothing in it begins another line, or another value. */
export function escapeLineText(text: string): string {
  return onOneLine(text).replaceAll(/[\\,;]/g, String.raw`\$&`);
}

export function onOneLine(text: string): string {
  return text.replaceAll(LINE_BREAKS, ' ').trim();
}

/** Folds a line: what follows a line break and a space continues it. No character is cut. */
export function foldLine(line: string): string {
  const parts: string[] = [];
  let part = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES_MAX) {
      parts.push(part);
      part = ' ';
      bytes = 1;
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n');
}
