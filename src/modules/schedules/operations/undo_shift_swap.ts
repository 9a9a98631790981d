import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { tellingOfDuty, type TouchedTime } from '#modules/schedules/tell_of_duty.ts';
import { toTimestamp } from '#kernel/time.ts';

export const undoShiftSwap = defineAction({
  name: 'undo_shift_swap',
  consoleOnly: true,
  summary: 'Remove the two overrides of a swap, together or not at all.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ firstOverrideId: IdText, secondOverrideId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true) }),
  example: { firstOverrideId: EXAMPLE_IDS.overrideId, secondOverrideId: EXAMPLE_IDS.overrideId },
  async handle(input, context) {
    const { stores, caller, record } = context;
    const paths = ['firstOverrideId', 'secondOverrideId'] as const;
    const times: TouchedTime[] = [];
    for (const path of paths) {
      const override = await stores.schedules.getOverride(caller.orgId, input[path], path);
      times.push({ ...override, schedule: await stores.schedules.lock(caller.orgId, override.scheduleId) });
    }
    return await tellingOfDuty(context, times, async () => {
      for (const path of paths) {
        const { id, scheduleId, userId, startAt, endAt } = await stores.schedules.deleteOverride(
          caller.orgId,
          input[path],
          path,
        );
        const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
        record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
      }
      return { changeId: `${input.firstOverrideId}.undone`, result: { deleted: true as const } };
    });
  },
});
