import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { toCalendarView } from '#modules/schedules/operations/holiday_calendar_fields.ts';

export const deleteHolidayCalendar = defineAction({
  name: 'delete_holiday_calendar',
  consoleOnly: true,
  summary: 'Remove a calendar of holidays that no layer uses.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ calendarId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), calendarId: IdText }),
  conflict: 'a layer uses it',
  example: { calendarId: EXAMPLE_IDS.calendarId },
  async handle({ calendarId }, { stores, caller, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    const schedules = await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id);
    if (schedules.length > 0) {
      const names = new Intl.ListFormat('en').format(schedules.slice(0, 5).map(({ name }) => `"${name}"`));
      throw new AppError('conflict', `layers of ${names} use this calendar; take it out of them first`);
    }
    record({ target: calendar.id, before: toCalendarView(calendar, []), after: null });
    await stores.holidayCalendars.delete(calendar.id);
    return { deleted: true as const, calendarId: calendar.id };
  },
});
