import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { nullable, STRICT, IdText, Timestamp } from '#actions/fields.ts';
import { MOVE_IN_STATUSES } from '#modules/moving_in/decide/move_in_state.ts';
import { statusOf } from '#modules/moving_in/move_in_work.ts';
import type { MoveInRow } from '#modules/moving_in/store.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';

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

export const getMoveIn = defineAction({
  name: 'get_move_in',
  consoleOnly: true,
  summary: 'Tell how far the last move from another tool is, with its report and its plan.',
  permission: 'organization:manage',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ moveIn: nullable(MoveInView) }),
  example: {},
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
