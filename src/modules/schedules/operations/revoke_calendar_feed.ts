import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

export const revokeCalendarFeed = defineAction({
  name: 'revoke_calendar_feed',
  consoleOnly: true,
  summary: 'Revoke every secret address of a schedule: they stop working from the next request on.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ scheduleId: IdText }, STRICT),
  result: Type.Object({ revoked: Type.Literal(true), scheduleId: IdText }),
  example: { scheduleId: EXAMPLE_IDS.scheduleId },
  async handle({ scheduleId }, { caller, stores, now, record }) {
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    if (!(await stores.calendarFeeds.revoke(caller.orgId, schedule.id, now))) {
      throw new AppError('not_found', 'this schedule has no active calendar address');
    }
    record({ target: schedule.id, before: { live: true }, after: null });
    return { revoked: true as const, scheduleId: schedule.id };
  },
});
