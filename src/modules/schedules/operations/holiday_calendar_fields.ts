import { type Static, Type } from 'typebox';

import { IdText, Name, nullable, Timestamp } from '#actions/fields.ts';
import { type Fault, invalidInput } from '#kernel/errors.ts';
import { fromEpochMilliseconds, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { isoOf, parseIsoMs } from '#kernel/wall_clock.ts';
import { HOLIDAYS_MAX, readIcsDates } from '#modules/schedules/decide/ics_dates.ts';
import type { HolidayCalendarRow } from '#modules/schedules/store/holiday_calendar_store.ts';

/** Characters of a file that is read once. */
const FILE_LENGTH_MAX = 500_000;
/** Time at which nothing was tried: the address is asked within seconds. */
export const NEVER_TRIED = fromEpochMilliseconds(0);

export const CalendarView = Type.Object({
  calendarId: IdText,
  name: Type.String(),
  url: nullable(Type.String({ description: 'null: its dates are typed in' })),
  dates: Type.Array(Type.String({ description: 'YYYY-MM-DD' })),
  fetchedAt: nullable(Timestamp),
  fault: nullable(
    Type.String({ description: 'why the address could not be read last time: the last good dates count' }),
  ),
  updatedAt: Timestamp,
  schedules: Type.Array(Type.Object({ scheduleId: IdText, name: Type.String() }), {
    description: 'those with a layer that uses it',
  }),
});

export const CALENDAR_FIELDS = {
  name: Name,
  url: Type.Optional(
    nullable(Type.String({ maxLength: 2_000, description: 'https address of an iCalendar file, read every day' })),
  ),
  dates: Type.Optional(
    Type.Array(Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, description: 'a date such as 2027-12-25' }), {
      maxItems: HOLIDAYS_MAX,
    }),
  ),
  file: Type.Optional(
    nullable(Type.String({ maxLength: FILE_LENGTH_MAX, description: 'the text of an iCalendar file, read once' })),
  ),
};

export const CALENDAR_EXAMPLE = {
  name: 'Holidays in the Netherlands',
  url: null,
  file: null,
  dates: ['2027-04-27', '2027-12-25', '2027-12-26'],
};

interface CalendarInput {
  readonly url?: string | null | undefined;
  readonly dates?: readonly string[] | undefined;
  readonly file?: string | null | undefined;
}

function calendarFaults({ url, dates }: CalendarInput): readonly Fault[] {
  const isDate = (date: string): boolean => {
    const ms = parseIsoMs(date);
    return ms !== null && isoOf(ms).startsWith(date);
  };
  return [
    ...(url === undefined || url === null || isHttps(url)
      ? []
      : [{ path: 'url', message: 'must be an https address, for example "https://example.com/holidays.ics"' }]),
    ...(dates ?? []).flatMap((date, index) =>
      isDate(date) ? [] : [{ path: `dates[${index}]`, message: `must be a day of the calendar; found "${date}"` }],
    ),
  ];
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'https:';
}

/** Returns the dates that are typed in or that the file has; undefined without either. Throws for two sources at once. */
export function datesOf({ url, dates, file }: CalendarInput, now: Temporal.Instant): readonly string[] | undefined {
  const sources = [typeof url === 'string', dates !== undefined, typeof file === 'string'];
  const faults = calendarFaults({ url, dates });
  if (faults.length > 0) throw invalidInput(faults);
  if (sources.filter(Boolean).length > 1) {
    throw invalidInput([{ path: 'dates', message: 'must be left out where url or file is given: one of the three' }]);
  }
  if (file === undefined || file === null) return dates && [...new Set(dates)].sort();
  const read = readIcsDates(file, now.toZonedDateTimeISO('UTC').toPlainDate());
  if (read.kind === 'dates') return read.dates;
  throw invalidInput([{ path: 'file', message: `cannot be read: ${read.fault}` }]);
}

export function toCalendarView(
  { id, name, url, dates, fetchedAt, fault, updatedAt }: HolidayCalendarRow,
  schedules: readonly { readonly id: string; readonly name: string }[],
): Static<typeof CalendarView> {
  return {
    calendarId: id,
    name,
    url,
    dates: [...dates],
    fetchedAt: toTimestampOrNull(fetchedAt),
    fault,
    updatedAt: toTimestamp(updatedAt),
    schedules: schedules.map((schedule) => ({ scheduleId: schedule.id, name: schedule.name })),
  };
}
