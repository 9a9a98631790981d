import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

export const deleteScheduleOverride = defineAction({
  name: 'delete_schedule_override',
  consoleOnly: true,
  summary: 'Remove an override: the schedule without it decides who is on call from now on.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ overrideId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), overrideId: IdText }),
  example: { overrideId: EXAMPLE_IDS.overrideId },
  async handle({ overrideId }, { stores, caller, record }) {
    const { id, scheduleId, userId, startAt, endAt } = await stores.schedules.deleteOverride(caller.orgId, overrideId);
    const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
    record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
    return { deleted: true as const, overrideId: id };
  },
});
