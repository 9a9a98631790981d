import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

const LENGTH = 500_000;

export const getMoveInText = defineAction({
  name: 'get_move_in_text',
  consoleOnly: true,
  summary:
    'Return the report of a move as Markdown, or its configuration file, in parts. Phone numbers are in the file.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object(
    {
      moveInId: IdText,
      what: Type.Enum(['markdown', 'file']),
      from: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'character to begin at' })),
    },
    STRICT,
  ),
  result: Type.Object({
    text: Type.String(),
    next: nullable(Type.Integer({ description: 'character at which the next part begins' })),
  }),
  conflict: 'nothing was read yet',
  example: { moveInId: IDS.moveInId, what: 'markdown', from: 0 },
  async handle({ moveInId, what, from = 0 }, { caller, stores }) {
    const move = await stores.moveIns.get(caller.orgId, moveInId);
    const text = await stores.moveIns.readText(move.id, what, { from, length: LENGTH });
    if (text === null) throw new AppError('conflict', 'nothing was read yet');
    // PostgreSQL counts a character outside the basic plane once.
    const length = text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, ' ').length;
    return { text, next: length < LENGTH ? null : from + length };
  },
});
