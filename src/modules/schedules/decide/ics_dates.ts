import { Temporal } from '#kernel/time.ts';

/** Limit on the dates of a calendar, typed in or fetched. */
export const HOLIDAYS_MAX = 2_000;
/** Longest event that is read as holidays, in days. */
const EVENT_DAYS_MAX = 62;
/** Years before and after this one for which an event of every year is counted. */
const YEARS_BEFORE = 1;
const YEARS_AFTER = 10;

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
  const dates = new Set<string>();
  let leftOut = 0;
  let event: Map<string, string> | null = null;
  for (const line of lines) {
    const upper = line.trim().toUpperCase();
    if (upper === 'BEGIN:VEVENT') event = new Map();
    else if (upper === 'END:VEVENT') {
      const days = event === null ? null : daysOf(event, today);
      if (days === null) leftOut += 1;
      for (const day of days ?? []) dates.add(day);
      event = null;
      if (dates.size > HOLIDAYS_MAX) {
        return { kind: 'fault', fault: `the calendar has more than ${HOLIDAYS_MAX} days: give one with holidays only` };
      }
    } else if (event !== null) {
      const match = /^([A-Z-]+)(?:;[^:]*)?:(.*)$/i.exec(line);
      if (match?.[1] !== undefined && match[2] !== undefined) event.set(match[1].toUpperCase(), match[2].trim());
    }
  }
  return { kind: 'dates', dates: [...dates].sort(), leftOut };
}

/** Returns the days of an event; null for one that cannot be read. */
function daysOf(event: ReadonlyMap<string, string>, today: Temporal.PlainDate): string[] | null {
  const start = dateOf(event.get('DTSTART'));
  if (start === null) return null;
  if (event.get('STATUS')?.toUpperCase() === 'CANCELLED') return [];
  const end = dateOf(event.get('DTEND')) ?? start.add({ days: 1 });
  const length = Math.min(EVENT_DAYS_MAX, Math.max(1, start.until(end, { largestUnit: 'day' }).days));
  const rule = event.get('RRULE')?.toUpperCase();
  if (rule !== undefined && !/^FREQ=YEARLY(;INTERVAL=1)?(;WKST=\w\w)?$/.test(rule)) return null;
  const years = rule === undefined ? [start.year] : yearsAround(start.year, today.year);
  return years.flatMap((year) => {
    const first = start.with({ year });
    // The 29th of February is in leap years only.
    if (first.day !== start.day) return [];
    return Array.from({ length }, (_, day) => first.add({ days: day }).toString());
  });
}

function yearsAround(first: number, thisYear: number): number[] {
  const from = Math.max(first, thisYear - YEARS_BEFORE);
  return Array.from({ length: Math.max(0, thisYear + YEARS_AFTER - from + 1) }, (_, index) => from + index);
}

/** Reads the date of `20270101` or `20270101T090000Z`. */
function dateOf(text: string | undefined): Temporal.PlainDate | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T\d{6}Z?)?$/i.exec(text ?? '');
  if (match === null) return null;
  try {
    return Temporal.PlainDate.from(`${match[1]}-${match[2]}-${match[3]}`, { overflow: 'reject' });
  } catch {
    return null;
  }
}
