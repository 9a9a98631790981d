import type { ExternalFetch } from '#auth/external_fetch.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { readIcsDates } from '#modules/schedules/decide/ics_dates.ts';
import type { CalendarFetch } from '#modules/schedules/store/holiday_calendar_store.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

const HOURS_BETWEEN = 24;
/** Calendars asked in one run; each answers within seconds or not at all. */
const CALENDARS_A_RUN = 20;

interface CalendarFetchRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetchCalendar: ExternalFetch;
}

/**
 * Reads the addresses of calendars of holidays that were not asked for a day. One that cannot be read keeps the dates of
 * its last good answer, and says why.
 */
export async function fetchHolidayCalendars({ db, clock, log, fetchCalendar }: CalendarFetchRuntime): Promise<void> {
  const { holidayCalendars } = storesOf(db.session());
  for (let count = 0; count < CALENDARS_A_RUN; count += 1) {
    const now = clock.now();
    const calendar = await holidayCalendars.claimDue(now.subtract({ hours: HOURS_BETWEEN }), now);
    if (calendar?.url === undefined || calendar.url === null) return;
    const fetched = await fetchDates(fetchCalendar, calendar.url, now);
    await holidayCalendars.recordFetch(calendar, fetched, clock.now());
    if ('fault' in fetched) log.info({ calendarId: calendar.id, fault: fetched.fault }, 'a calendar could not be read');
    await nextTurn();
  }
}

/** Returns the dates of an address, or a sentence of our own about what is wrong with it. */
async function fetchDates(fetchCalendar: ExternalFetch, url: string, now: Temporal.Instant): Promise<CalendarFetch> {
  let text: string;
  try {
    const answer = await fetchCalendar(url);
    if (answer.status !== 200) return { fault: `the address answers with the status ${answer.status}, not 200` };
    text = await answer.text();
  } catch {
    return { fault: 'the address does not answer in time, is not on the public Internet, or sends more than 512 KB' };
  }
  const read = readIcsDates(text, now.toZonedDateTimeISO('UTC').toPlainDate());
  if (read.kind === 'fault') return { fault: read.fault };
  return read.dates.length === 0 ? { fault: 'the calendar has no days' } : { dates: read.dates };
}
