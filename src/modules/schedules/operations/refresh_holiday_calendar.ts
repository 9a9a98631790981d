import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { CalendarView, NEVER_TRIED, toCalendarView } from '#modules/schedules/operations/holiday_calendar_fields.ts';

export const refreshHolidayCalendar = defineAction({
  name: 'refresh_holiday_calendar',
  consoleOnly: true,
  summary: 'Read the address of a calendar of holidays again within seconds, in place of tomorrow.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ calendarId: IdText }, STRICT),
  result: CalendarView,
  conflict: 'its dates are typed in',
  example: { calendarId: EXAMPLE_IDS.calendarId },
  async handle({ calendarId }, { stores, caller, now, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    if (calendar.url === null) throw new AppError('conflict', 'the dates of this calendar are typed in');
    const saved = await stores.holidayCalendars.save({ ...calendar, triedAt: NEVER_TRIED }, now);
    const view = toCalendarView(saved, await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id));
    record({ target: calendar.id, before: null, after: { refreshed: true } });
    return view;
  },
});
