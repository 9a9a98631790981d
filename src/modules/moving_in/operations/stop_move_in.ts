import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

export const stopMoveIn = defineAction({
  name: 'stop_move_in',
  consoleOnly: true,
  summary: 'Stop reading what another tool says. The next reading goes on where this one stopped.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ moveInId: IdText }, STRICT),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is not being read',
  example: { moveInId: IDS.moveInId },
  async handle({ moveInId }, { caller, stores, now, record, moveIns }) {
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'reading') throw new AppError('conflict', 'this move is not being read');
    const fault = 'The reading was stopped. Begin again: it goes on where it stopped.';
    await stores.moveIns.save(move.id, { status: 'failed', progress: '', fault, updatedAt: now });
    record({ target: move.id, before: null, after: { stopped: true } });
    moveIns.stop(move.id);
    return { moveInId: move.id };
  },
});
