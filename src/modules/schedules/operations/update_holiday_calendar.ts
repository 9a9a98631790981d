import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import {
  CALENDAR_EXAMPLE,
  CALENDAR_FIELDS,
  CalendarView,
  datesOf,
  NEVER_TRIED,
  toCalendarView,
} from '#modules/schedules/operations/holiday_calendar_fields.ts';

export const updateHolidayCalendar = defineAction({
  name: 'update_holiday_calendar',
  consoleOnly: true,
  summary:
    'Replace the name of a calendar of holidays, and its dates or its address. Its dates stay until a new address is read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ calendarId: IdText, ...CALENDAR_FIELDS }, STRICT),
  result: CalendarView,
  example: { calendarId: EXAMPLE_IDS.calendarId, ...CALENDAR_EXAMPLE },
  async handle({ calendarId, ...input }, { stores, caller, now, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    const schedules = await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id);
    const url = input.url === undefined ? calendar.url : input.url;
    const saved = await stores.holidayCalendars.save(
      {
        ...calendar,
        name: input.name,
        url,
        dates: datesOf(input, now) ?? calendar.dates,
        triedAt: url === null ? null : url === calendar.url ? calendar.triedAt : NEVER_TRIED,
        fault: url === calendar.url ? calendar.fault : null,
      },
      now,
    );
    const after = toCalendarView(saved, schedules);
    record({ target: calendar.id, before: toCalendarView(calendar, schedules), after });
    return after;
  },
});
