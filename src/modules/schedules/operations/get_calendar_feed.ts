import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { findCalendarFeed } from '#modules/schedules/operations/calendar_feed.ts';
import { notFound } from '#kernel/errors.ts';

export const getCalendarFeed = defineAction({
  name: 'get_calendar_feed',
  consoleOnly: true,
  summary:
    'Show your secret address under which calendar programs read a schedule; null when you have none. Each call is recorded in the audit log.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({ scheduleId: IdText }, STRICT),
  result: Type.Object({ scheduleId: IdText, url: nullable(Type.String()), createdAt: nullable(Timestamp) }),
  example: { scheduleId: EXAMPLE_IDS.scheduleId },
  async handle({ scheduleId }, context) {
    const schedule = await context.stores.schedules.find(context.caller.orgId, scheduleId);
    if (schedule === null) throw notFound('scheduleId', 'schedule');
    const feed = await findCalendarFeed(context, schedule.id);
    if (feed !== null) context.recordCredentialRead(schedule.id);
    return feed ?? { scheduleId: schedule.id, url: null, createdAt: null };
  },
});
