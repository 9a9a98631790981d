import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { requireQuiet, workOf } from '#modules/moving_in/move_in_work.ts';
import { AppError } from '#kernel/errors.ts';

export const planMoveIn = defineAction({
  name: 'plan_move_in',
  consoleOnly: true,
  summary: 'Plan anew what a move would change here, since something may have changed. Nothing else is changed.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ moveInId: IdText }, STRICT),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was not read yet',
  example: { moveInId: IDS.moveInId },
  async handle({ moveInId }, context) {
    const { caller, stores, now, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (!move.hasFile) throw new AppError('conflict', 'nothing was read yet');
    await stores.moveIns.save(move.id, { plan: null, fault: null, updatedAt: now });
    moveIns.plan(workOf(move, context));
    return { moveInId: move.id };
  },
});
