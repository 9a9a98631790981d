import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { CalendarView, toCalendarView } from '#modules/schedules/operations/holiday_calendar_fields.ts';

export const listHolidayCalendars = defineAction({
  name: 'list_holiday_calendars',
  consoleOnly: true,
  summary: 'List the calendars of holidays, with their dates, and why an address cannot be read.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ calendars: Type.Array(CalendarView) }),
  example: {},
  async handle(_input, { stores, caller }) {
    const calendars = await stores.holidayCalendars.list(caller.orgId);
    const views: Static<typeof CalendarView>[] = [];
    for (const calendar of calendars) {
      views.push(toCalendarView(calendar, await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id)));
    }
    return { calendars: views };
  },
});
