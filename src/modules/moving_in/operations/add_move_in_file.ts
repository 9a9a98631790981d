import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { PART_LENGTH_MAX, PARTS_MAX, UPLOAD_LENGTH_MAX } from '#modules/moving_in/decide/upload_limits.ts';
import { AppError } from '#kernel/errors.ts';

export const addMoveInFile = defineAction({
  name: 'add_move_in_file',
  consoleOnly: true,
  summary: 'Add a file of another tool, or a part of one, to a move that has not been read yet.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      moveInId: IdText,
      name: Type.String({ minLength: 1, maxLength: 300, description: 'path of the file within its folder' }),
      part: Type.Integer({ minimum: 0, maximum: PARTS_MAX, description: 'parts are put together in this order' }),
      text: Type.String({ maxLength: PART_LENGTH_MAX }),
    },
    STRICT,
  ),
  result: Type.Object({ length: Type.Integer({ description: 'characters of all files so far' }) }),
  conflict: 'the move is being read, or was',
  example: { moveInId: IDS.moveInId, name: 'users.json', part: 0, text: '{"users":[]}' },
  async handle({ moveInId, name, part, text }, { caller, stores, now, record }) {
    const { moveIns } = stores;
    const move = await moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'collecting' && move.status !== 'failed')
      throw new AppError('conflict', 'this move was read already; begin another one');
    await moveIns.keepPart(move.id, name, part, text);
    const length = await moveIns.countKept(move.id);
    if (length > UPLOAD_LENGTH_MAX) {
      const megabytes = UPLOAD_LENGTH_MAX / 1_000_000;
      throw new AppError('conflict', `the files have more than ${megabytes} MB; move in by the command line`);
    }
    await moveIns.save(move.id, { updatedAt: now });
    if (part === 0) record({ target: move.id, before: null, after: { file: name } });
    return { length };
  },
});
