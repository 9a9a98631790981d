import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { requireQuiet, workOf } from '#modules/moving_in/move_in_work.ts';
import { AppError } from '#kernel/errors.ts';

export const applyMoveIn = defineAction({
  name: 'apply_move_in',
  consoleOnly: true,
  stepUp: true,
  summary: 'Make the changes of the plan of a move, each by its ordinary operation. Nothing is deleted.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    { moveInId: IdText, fingerprint: Type.String({ maxLength: 64, description: 'of the plan that was reviewed' }) },
    STRICT,
  ),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or the plan is another one by now',
  example: { moveInId: IDS.moveInId, fingerprint: '5f2c7c1c9b4f4d8e8f0a1b2c3d4e5f60' },
  async handle({ moveInId, fingerprint }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.plan?.fingerprint !== fingerprint)
      throw new AppError('conflict', 'the plan is another one by now; review it again');
    const begun = { status: 'applying', progress: 'Applying has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { applied: move.plan.changes } });
    moveIns.apply(workOf(move, context), fingerprint);
    return { moveInId: move.id };
  },
});
