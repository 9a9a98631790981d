import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';

const GROUPS_MAX = 50;
const MERGED_MAX = 500;

export const mergeExceptionGroups = defineAction({
  name: 'merge_exception_groups',
  consoleOnly: true,
  summary:
    'Merge exception groups of one service into another: its counts and events are those of all of them, and new events of ' +
    'any of them come to it. split_exception_groups undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      intoGroupId: IdText,
      groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
    },
    CLOSED,
  ),
  result: Type.Object({
    mergedGroupIds: Type.Array(IdText, { description: 'with the groups that were part of them' }),
  }),
  example: { intoGroupId: EXAMPLE_IDS.groupId, groupIds: [EXAMPLE_IDS.otherGroupId] },
  async handle({ intoGroupId, groupIds }, { caller, stores, now, record }) {
    await stores.exceptionGroups.lockInOrder(caller.orgId, [intoGroupId, ...groupIds]);
    const into = await stores.exceptionGroups.get(caller.orgId, intoGroupId, now);
    if (into.mergedIntoId !== null) {
      throw new AppError('conflict', 'this exception is part of another one: merge into that one instead');
    }
    const groups = [];
    for (const groupId of groupIds) groups.push(await stores.exceptionGroups.get(caller.orgId, groupId, now));
    for (const { id, serviceId } of groups) {
      if (id === into.id) throw new AppError('invalid_input', 'an exception cannot be merged into itself');
      if (serviceId !== into.serviceId) {
        throw new AppError('invalid_input', 'only exceptions of the same service can be merged');
      }
    }
    const added = [...new Set(groups.flatMap(({ id, mergedIds }) => [id, ...mergedIds]))];
    if (into.mergedIds.length + added.length > MERGED_MAX) {
      throw new AppError('conflict', `an exception cannot be made of more than ${MERGED_MAX} others`);
    }
    const ids = groups.map(({ id }) => id);
    await stores.groupMerges.merge(ids, into.id, now);
    await stores.exceptionCounts.markDue([into.id], now);
    for (const { id, mergedIntoId } of groups) {
      record({ target: id, before: { mergedInto: mergedIntoId }, after: { mergedInto: into.id } });
    }
    return { mergedGroupIds: added };
  },
});
