import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { addressOf } from '#modules/moving_in/ask.ts';
import { keyOf } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS } from '#modules/moving_in/ask_tools.ts';
import { requireQuiet, workOf } from '#modules/moving_in/move_in_work.ts';
import { AppError } from '#kernel/errors.ts';

export const readMoveIn = defineAction({
  name: 'read_move_in',
  consoleOnly: true,
  summary:
    'Read what another tool says, over its API with a key or from the files that were added, into a file and a report. The key is not kept.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      moveInId: IdText,
      key: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'read-only; it is not kept' })),
      baseUrl: Type.Optional(Type.String({ maxLength: 2_000, description: 'where it is not the usual address' })),
    },
    STRICT,
  ),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was read already',
  example: { moveInId: IDS.moveInId, key: 'u+read-only', baseUrl: 'https://api.eu.pagerduty.com' },
  async handle({ moveInId, key, baseUrl }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.hasFile) throw new AppError('conflict', 'this move was read already; begin another one');
    if (key === undefined && (await stores.moveIns.countKept(move.id)) === 0)
      throw new AppError('conflict', 'add files, or give a key');
    if (key !== undefined) {
      const asked = ASKED_TOOLS[move.tool];
      if (asked === undefined) throw new AppError('invalid_input', 'this tool is read from files only');
      keyOf(key, 'the field for the key');
      addressOf(baseUrl ?? asked.baseUrl, 'the address');
    }
    const begun = { status: 'reading', progress: 'Reading has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { read: key === undefined ? 'files' : 'with a key' } });
    moveIns.read(workOf(move, context), key === undefined ? null : { key, baseUrl: baseUrl ?? null });
    return { moveInId: move.id };
  },
});
