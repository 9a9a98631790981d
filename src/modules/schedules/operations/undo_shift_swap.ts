import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
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
  async handle(input, { stores, caller, record }) {
    for (const path of ['firstOverrideId', 'secondOverrideId'] as const) {
      const { id, scheduleId, userId, startAt, endAt } = await stores.schedules.deleteOverride(
        caller.orgId,
        input[path],
        path,
      );
      const window = { startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
      record({ target: id, before: { overrideId: id, scheduleId, userId, ...window }, after: null });
    }
    return { deleted: true as const };
  },
});
