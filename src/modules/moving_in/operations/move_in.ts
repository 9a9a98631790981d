import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { VERDICTS } from '#modules/moving_in/decide/ledger.ts';
import { MOVE_IN_STATUSES } from '#modules/moving_in/decide/move_in_state.ts';
import { keyOfItem } from '#modules/moving_in/decide/tools.ts';
import { statusOf } from '#modules/moving_in/move_in.ts';
import {
  addMoveInFile,
  applyMoveIn,
  createMoveIn,
  planMoveIn,
  readMoveIn,
  stopMoveIn,
} from '#modules/moving_in/operations/move_in_steps.ts';
import type { MoveInRow } from '#modules/moving_in/store.ts';

const Count = Type.Integer();

const MoveInView = Type.Object({
  moveInId: IdText,
  tool: Type.String(),
  status: Type.Enum([...MOVE_IN_STATUSES]),
  progress: Type.String({ description: 'what is being done; empty when nothing is' }),
  fault: nullable(Type.String({ description: 'why the last step failed' })),
  createdAt: Timestamp,
  summary: nullable(
    Type.Object({
      read: Type.Record(Type.String(), Count),
      verdicts: Type.Record(Type.String(), Count),
      minutes: Count,
      equal: Type.Integer({ description: 'minutes at which the same people are on call' }),
      schedules: Count,
      different: Type.Array(
        Type.Object({
          schedule: Type.String(),
          against: Type.String(),
          minutes: Count,
          equal: Count,
          causes: Type.Array(Type.String()),
        }),
        { description: 'schedules some of whose minutes differ, worst first' },
      ),
    }),
  ),
  plan: nullable(
    Type.Object({
      fingerprint: Type.String(),
      changes: Count,
      byKind: Type.Record(Type.String(), Count),
      meaning: Type.Array(Type.String(), { description: 'what the changes mean for people' }),
    }),
  ),
  applied: Type.Integer({ description: 'changes that were made' }),
});

export const getMoveIn = defineOperation({
  name: 'get_move_in',
  summary: 'Tell how far the last move from another tool is, with its report and its plan.',
  permission: 'organization:manage',
  effect: 'read',
  result: Type.Object({ moveIn: nullable(MoveInView) }),
  async handle(_input, { caller, stores, now }) {
    const [last] = await stores.moveIns.list(caller.orgId);
    return { moveIn: last === undefined ? null : toView(last, now) };
  },
});

function toView(row: MoveInRow, now: Temporal.Instant): Static<typeof MoveInView> {
  const { id, tool, progress, createdAt, summary, plan, applied } = row;
  const view = { moveInId: id, tool, ...statusOf(row, now), progress, createdAt: toTimestamp(createdAt), applied };
  return structuredClone({ ...view, summary, plan }) as Static<typeof MoveInView>;
}

const SHOWN = 50;

export const listMoveInItems = defineOperation({
  name: 'list_move_in_items',
  summary: 'List what was read from another tool with what became of each, by verdict.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    moveInId: IdText,
    verdict: Type.Optional(Type.Enum([...VERDICTS])),
    after: Type.Optional(Type.Integer({ minimum: -1, description: 'position of the last item that is known' })),
  }),
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
  example: { verdict: 'refused', after: 49 },
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

const LENGTH = 500_000;

export const getMoveInText = defineOperation({
  name: 'get_move_in_text',
  summary:
    'Return the report of a move as Markdown, or its configuration file, in parts. Phone numbers are in the file.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({
    moveInId: IdText,
    what: Type.Enum(['markdown', 'file']),
    from: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000_000, description: 'character to begin at' })),
  }),
  result: Type.Object({
    text: Type.String(),
    next: nullable(Type.Integer({ description: 'character at which the next part begins' })),
  }),
  conflict: 'nothing was read yet',
  example: { what: 'markdown', from: 0 },
  async handle({ moveInId, what, from = 0 }, { caller, stores }) {
    const move = await stores.moveIns.get(caller.orgId, moveInId);
    const text = await stores.moveIns.readText(move.id, what, { from, length: LENGTH });
    if (text === null) throw new AppError('conflict', 'nothing was read yet');
    // PostgreSQL counts a character outside the basic plane once.
    const length = text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, ' ').length;
    return { text, next: length < LENGTH ? null : from + length };
  },
});

/** Operations of the console on moves from other tools. */
export const MOVE_IN_OPERATIONS = [
  createMoveIn,
  addMoveInFile,
  readMoveIn,
  getMoveIn,
  listMoveInItems,
  getMoveInText,
  stopMoveIn,
  planMoveIn,
  applyMoveIn,
] as const;
