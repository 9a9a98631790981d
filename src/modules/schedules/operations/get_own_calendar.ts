import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, nullable } from '#actions/fields.ts';
import { findOwnCalendar, OwnCalendarView } from '#modules/schedules/operations/own_calendar.ts';

export const getOwnCalendar = defineAction({
  name: 'get_own_calendar',
  consoleOnly: true,
  summary:
    'Show the secret address under which calendar programs read all of your shifts; null when you have none. Each call is recorded in the audit log.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ calendar: nullable(OwnCalendarView) }),
  example: {},
  async handle(_input, context) {
    const ownCalendar = await findOwnCalendar(context);
    if (ownCalendar === null) return { calendar: null };
    context.recordCredentialRead(ownCalendar.userId);
    return { calendar: { url: ownCalendar.url, createdAt: ownCalendar.createdAt } };
  },
});
