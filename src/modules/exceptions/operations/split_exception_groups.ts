import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';

const GROUPS_MAX = 50;

export const splitExceptionGroups = defineAction({
  name: 'split_exception_groups',
  consoleOnly: true,
  summary:
    'Split exception groups off the one that they are part of: each is one of its own again, with its events, its status and ' +
    'what comes from now on. undo_exception_merges undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    { groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }) },
    STRICT,
  ),
  result: Type.Object({
    split: Type.Array(Type.Object({ groupId: IdText, fromGroupId: IdText }), {
      description: 'without those that were part of no other',
    }),
  }),
  example: { groupIds: [EXAMPLE_IDS.groupId] },
  async handle({ groupIds }, context) {
    const { caller, stores, now, record } = context;
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    const split = [];
    for (const wanted of groupIds) {
      const group = await stores.exceptionGroups.get(caller.orgId, wanted, now);
      const { id, serviceId, mergedIntoId } = group;
      if (mergedIntoId === null) continue;
      await stores.groupMerges.split(id, now);
      await stores.messageTemplates.pin(serviceId, id, now);
      await stores.exceptionCounts.markDue([id, mergedIntoId], now);
      record({ target: id, before: { mergedInto: mergedIntoId }, after: { mergedInto: null } });
      record({ target: mergedIntoId, before: { part: id }, after: { part: null } });
      await recordActivity(context, mergedIntoId, { kind: 'split_off', groupId: id });
      split.push({ groupId: id, fromGroupId: mergedIntoId });
    }
    return { split };
  },
});
