import type { Temporal } from '#kernel/time.ts';
import { isoOf, parseIsoMs } from '#kernel/wall_clock.ts';
import { DAY_MS, ZoneClock } from '#kernel/zone_clock.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';

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
 * of the day: those of its own zone, and for times of UTC those of the zone that the calendar names. Of recurrences only
 * those of every year are read, and the events with others are counted as left out.
 */
export function readIcsDates(text: string, today: Temporal.PlainDate): IcsDates {
  const lines = text.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/);
  if (!lines.some((line) => line.trim().toUpperCase() === 'BEGIN:VCALENDAR')) {
    return { kind: 'fault', fault: 'the answer is not an iCalendar file' };
  }
  const clock = zoneOf(lines);
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
      const days = event === null ? null : spansOf(event, today.year, clock);
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

/** Names for the zone of a calendar, the most telling first. */
const ZONE_NAMES = [/^X-WR-TIMEZONE(?:;[^:]*)?:(.+)$/i, /^X-LIC-LOCATION:(.+)$/i, /^TZID:(.+)$/i];

/** Returns the clock of the zone in which the days of a calendar are meant; that of UTC if it names none. */
function zoneOf(lines: readonly string[]): ZoneClock {
  for (const pattern of ZONE_NAMES) {
    const zone = parseTimeZone(
      lines
        .map((line) => pattern.exec(line)?.[1])
        .find(Boolean)
        ?.trim() ?? '',
      '',
    );
    if (zone.kind === 'ok') return new ZoneClock(zone.value);
  }
  return new ZoneClock('UTC');
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
function spansOf(event: ReadonlyMap<string, string>, thisYear: number, clock: ZoneClock): Span[] | null {
  const start = dateOf(event.get('DTSTART'), clock);
  if (start === null) return null;
  if (event.get('STATUS')?.toUpperCase() === 'CANCELLED') return [];
  const length = Math.min(EVENT_DAYS_MAX, Math.max(1, lengthOf(start, event, clock)));
  const rule = event.get('RRULE')?.toUpperCase();
  if (rule === undefined) return [{ from: start.day, until: start.day + length }];
  if (!/^FREQ=YEARLY(;INTERVAL=1)?(;WKST=\w\w)?$/.test(rule)) return null;
  return yearsAround(start.year, thisYear).flatMap((year) => {
    // The 29th of February is in leap years only.
    const from = dayOf(year, start.monthAndDay);
    return from === null ? [] : [{ from, until: from + length }];
  });
}

/** Returns the number of days on which an event is; below 1 for one that ends before it begins. */
function lengthOf(start: IcsDate, event: ReadonlyMap<string, string>, clock: ZoneClock): number {
  const end = dateOf(event.get('DTEND'), clock);
  const endMs = end?.wallMs ?? start.wallMs + durationMs(event.get('DURATION') ?? '');
  return Math.ceil(endMs / DAY_MS) - start.day;
}

function durationMs(text: string): number {
  const match = /^\+?P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/i.exec(text);
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = (match ?? [])
    .slice(1)
    .map((part?: string) => Number(part ?? 0));
  return (weeks * 7 + days) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1_000;
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
  /** Time of the wall clock in milliseconds; of a date, its beginning. */
  readonly wallMs: number;
}

/** Reads `20270101`, `20270101T090000`, or `20270101T090000Z` by the clock. */
function dateOf(text: string | undefined, clock: ZoneClock): IcsDate | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/i.exec(text ?? '');
  if (match === null) return null;
  const [, year, month, date, hour = 0, minute = 0, second = 0, isUtc] = match;
  const written = dayOf(Number(year), `-${month}-${date}`);
  if (written === null) return null;
  const writtenMs = written * DAY_MS + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
  const wallMs = isUtc === undefined ? writtenMs : clock.wallOf(writtenMs);
  const day = Math.floor(wallMs / DAY_MS);
  return { year: Number(isoOfDay(day).slice(0, 4)), monthAndDay: isoOfDay(day).slice(4), day, wallMs };
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
