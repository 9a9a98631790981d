import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { keyOfItem } from '#modules/moving_in/decide/tools.ts';
import { VERDICTS } from '#modules/moving_in/decide/ledger.ts';

const SHOWN = 50;

export const listMoveInItems = defineAction({
  name: 'list_move_in_items',
  consoleOnly: true,
  summary: 'List what was read from another tool with what became of each, by verdict.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object(
    {
      moveInId: IdText,
      verdict: Type.Optional(Type.Enum([...VERDICTS])),
      after: Type.Optional(Type.Integer({ minimum: -1, description: 'position of the last item that is known' })),
    },
    STRICT,
  ),
  result: Type.Object({
    items: Type.Array(
      Type.Object({
        position: Type.Integer(),
        kind: Type.String(),
        id: Type.String({ description: 'id in the other tool' }),
        name: Type.String(),
        verdict: Type.Enum([...VERDICTS]),
        reason: Type.String(),
        todo: Type.String(),
        here: nullable(
          Type.Object({ kind: Type.String(), id: IdText }, { description: 'what it became, once it is applied' }),
        ),
      }),
    ),
    next: nullable(Type.Integer({ description: 'position to go on after' })),
  }),
  example: { moveInId: IDS.moveInId, verdict: 'refused', after: 49 },
  async handle({ moveInId, verdict, after = -1 }, { caller, stores }) {
    const move = await stores.moveIns.get(caller.orgId, moveInId);
    const rows = await stores.moveIns.listItems(move.id, { verdict: verdict ?? null, after, limit: SHOWN + 1 });
    const shown = rows.slice(0, SHOWN);
    const keyOf = ({ kind, itemId }: (typeof rows)[number]): string => keyOfItem(move.tool, kind, itemId);
    const marks = await stores.configuration.listByKeys(caller.orgId, shown.map(keyOf));
    const here = new Map(marks.map(({ key, kind, resourceId }) => [key, { kind, id: resourceId }]));
    const items = shown.map((row) => {
      const { position, kind, itemId, name, verdict: passed, reason, todo } = row;
      return { position, kind, id: itemId, name, verdict: passed, reason, todo, here: here.get(keyOf(row)) ?? null };
    });
    return { items, next: rows.length > SHOWN ? (items.at(-1)?.position ?? null) : null };
  },
});
