import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { MERGED_MAX } from '#modules/exceptions/operations/merge_exception_groups.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';

const CHANGES_MAX = 600;

/** Undoes a merge or a split that was a mistake. */
export const undoExceptionMerges = defineAction({
  name: 'undo_exception_merges',
  consoleOnly: true,
  summary:
    'Undo a merge or a split of exception groups: each is again part of what it was part of before. One that has been ' +
    'merged or split since is left alone.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      changes: Type.Array(
        Type.Object({ groupId: IdText, nowInGroupId: nullable(IdText), wasInGroupId: nullable(IdText) }, STRICT),
        { minItems: 1, maxItems: CHANGES_MAX, description: 'null: a group of its own' },
      ),
    },
    STRICT,
  ),
  result: Type.Object({
    undone: Type.Array(Type.Object({ groupId: IdText, inGroupId: nullable(IdText) })),
    unchanged: Type.Integer({ description: 'somebody has merged or split them since' }),
  }),
  example: {
    changes: [{ groupId: EXAMPLE_IDS.groupId, nowInGroupId: EXAMPLE_IDS.otherGroupId, wasInGroupId: null }],
  },
  async handle({ changes }, context) {
    const { caller, stores, now, record } = context;
    const named = changes.flatMap(({ groupId, nowInGroupId, wasInGroupId }) => [groupId, nowInGroupId, wasInGroupId]);
    const groupIds = [...new Set(named.filter((id) => id !== null))];
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    for (const groupId of groupIds) await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const undone: { groupId: Id<'group'>; inGroupId: Id<'group'> | null }[] = [];
    // Groups that become separate again come first: others may be part of them again.
    const inOrder = changes.toSorted((a, b) => Number(a.wasInGroupId !== null) - Number(b.wasInGroupId !== null));
    for (const { groupId, nowInGroupId, wasInGroupId } of inOrder) {
      const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
      if (group.mergedIntoId !== nowInGroupId || nowInGroupId === wasInGroupId) continue;
      let inGroupId: Id<'group'> | null = null;
      if (wasInGroupId === null) {
        await stores.groupMerges.split(group.id, now);
      } else {
        const taker = await stores.exceptionGroups.get(caller.orgId, wasInGroupId, now);
        const isFull = taker.mergedIds.length + group.mergedIds.length >= MERGED_MAX;
        const isAnother = taker.id !== group.id && taker.serviceId === group.serviceId;
        if (!isAnother || taker.mergedIntoId !== null || isFull) continue;
        await stores.groupMerges.merge([group.id], taker.id, now);
        inGroupId = taker.id;
      }
      const counted = [group.id, group.mergedIntoId, inGroupId].filter((id) => id !== null);
      await stores.exceptionCounts.markDue(counted, now);
      record({ target: group.id, before: { mergedInto: group.mergedIntoId }, after: { mergedInto: inGroupId } });
      if (group.mergedIntoId !== null) {
        record({ target: group.mergedIntoId, before: { part: group.id }, after: { part: null } });
        await recordActivity(context, group.mergedIntoId, { kind: 'split_off', groupId: group.id });
      }
      if (inGroupId !== null) {
        record({ target: inGroupId, before: { part: null }, after: { part: group.id } });
        await recordActivity(context, inGroupId, { kind: 'merged', groups: 1 });
      }
      undone.push({ groupId: group.id, inGroupId });
    }
    return { undone, unchanged: changes.length - undone.length };
  },
});
