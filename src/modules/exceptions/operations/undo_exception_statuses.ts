import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { GroupStatusName, toGroupFields } from '#modules/exceptions/operations/view.ts';
import { STRICT, IdText, Timestamp } from '#actions/fields.ts';
import { Temporal } from '#kernel/time.ts';

const GROUPS_MAX = 200;

export const undoExceptionStatuses = defineAction({
  name: 'undo_exception_statuses',
  consoleOnly: true,
  summary:
    'Undo the last decision about exception groups: each gets back its previous status, with its time, its release and whether it had come back. A group that was changed since is left alone.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      changes: Type.Array(Type.Object({ groupId: IdText, changedAt: Timestamp }, STRICT), {
        minItems: 1,
        maxItems: GROUPS_MAX,
        description: 'as set_exception_statuses answered them',
      }),
    },
    STRICT,
  ),
  result: Type.Object({
    undone: Type.Array(Type.Object({ groupId: IdText, status: GroupStatusName })),
    unchanged: Type.Integer({ description: 'somebody or an event has changed them since' }),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, changedAt: '2027-02-03T02:04:15.000Z' }] },
  async handle({ changes }, context) {
    const { caller, stores, now, record } = context;
    const wanted = new Map(changes.map(({ groupId, changedAt }) => [groupId, Temporal.Instant.from(changedAt)]));
    await stores.exceptionGroups.lockInOrder(caller.orgId, [...wanted.keys()]);
    const undone = [];
    for (const [groupId, changedAt] of wanted) {
      const result = await stores.exceptionGroups.undoStatus(caller.orgId, groupId, changedAt, now);
      if (result === null) continue;
      const { before, after } = result;
      record({ target: after.id, before: toGroupFields(before), after: toGroupFields(after) });
      await recordActivity(context, after.id, { kind: 'status', before: before.status, after: after.status });
      undone.push({ groupId, status: after.status });
    }
    return { undone, unchanged: wanted.size - undone.length };
  },
});
