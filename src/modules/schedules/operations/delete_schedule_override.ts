import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { tellingOfDuty } from '#modules/schedules/tell_of_duty.ts';
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
  async handle({ overrideId }, context) {
    const { stores, caller, record } = context;
    const override = await stores.schedules.getOverride(caller.orgId, overrideId);
    const schedule = await stores.schedules.lock(caller.orgId, override.scheduleId);
    const deleted = await tellingOfDuty(context, [{ ...override, schedule }], async () => {
      const result = await stores.schedules.deleteOverride(caller.orgId, overrideId);
      return { changeId: `${result.id}.deleted`, result };
    });
    const { id, scheduleId, userId, startAt, endAt } = deleted;
    const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
    record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
    return { deleted: true as const, overrideId: id };
  },
});
