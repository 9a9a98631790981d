import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import {
  CALENDAR_EXAMPLE,
  CALENDAR_FIELDS,
  CalendarView,
  datesOf,
  NEVER_TRIED,
  toCalendarView,
} from '#modules/schedules/operations/holiday_calendar_fields.ts';

/** Calendars of one organization. */
const CALENDARS_MAX = 100;

export const createHolidayCalendar = defineAction({
  name: 'create_holiday_calendar',
  consoleOnly: true,
  summary: 'Make a calendar of holidays: of dates that are typed in, of an iCalendar file, or of the address of one.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(CALENDAR_FIELDS, STRICT),
  result: CalendarView,
  conflict: 'the organization has as many calendars as it may have',
  example: CALENDAR_EXAMPLE,
  async handle(input, { stores, caller, now, record }) {
    const existing = await stores.holidayCalendars.list(caller.orgId);
    if (existing.length >= CALENDARS_MAX) {
      throw new AppError('conflict', `an organization has at most ${CALENDARS_MAX} calendars; remove one first`);
    }
    const url = input.url ?? null;
    const calendar = await stores.holidayCalendars.insert(
      {
        orgId: caller.orgId,
        name: input.name,
        url,
        dates: datesOf(input, now) ?? [],
        fetchedAt: null,
        triedAt: url === null ? null : NEVER_TRIED,
        fault: null,
      },
      now,
    );
    const after = toCalendarView(calendar, []);
    record({ target: calendar.id, before: null, after });
    return after;
  },
});
