import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';

const GROUPS_MAX = 50;
/** Limit on the groups merged into one: its events are read by the ids of all. */
export const MERGED_MAX = 500;

export const mergeExceptionGroups = defineAction({
  name: 'merge_exception_groups',
  consoleOnly: true,
  summary:
    'Merge exception groups of one service into another: its counts and events are those of all of them, and new events of ' +
    'any of them come to it; its status stays. undo_exception_merges undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      intoGroupId: IdText,
      groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
    },
    STRICT,
  ),
  result: Type.Object({
    merged: Type.Array(Type.Object({ groupId: IdText, fromGroupId: nullable(IdText) }), {
      description: 'with the groups that were part of them, and what each was part of before',
    }),
  }),
  example: { intoGroupId: EXAMPLE_IDS.groupId, groupIds: [EXAMPLE_IDS.otherGroupId] },
  async handle({ intoGroupId, groupIds }, context) {
    const { caller, stores, now, record } = context;
    await stores.exceptionGroups.lockInOrder(caller.orgId, [intoGroupId, ...groupIds]);
    const into = await stores.exceptionGroups.get(caller.orgId, intoGroupId, now);
    if (into.mergedIntoId !== null) {
      throw conflict('intoGroupId', 'has become part of another exception meanwhile: merge into that one instead');
    }
    const groups = [];
    for (const groupId of groupIds) groups.push(await stores.exceptionGroups.get(caller.orgId, groupId, now));
    const faults = groups.flatMap(({ id, serviceId }, index): Fault[] => {
      const path = `groupIds[${index}]`;
      if (id === into.id) return [{ path, message: 'an exception cannot be merged into itself' }];
      return serviceId === into.serviceId ? [] : [{ path, message: 'only exceptions of one service can be merged' }];
    });
    if (faults.length > 0) throw invalidInput(faults);
    // Groups that are part of this one already are skipped: the request may come twice.
    const added = groups.filter(({ mergedIntoId }) => mergedIntoId !== into.id);
    const elsewhere = groups.findIndex(({ mergedIntoId }) => mergedIntoId !== null && mergedIntoId !== into.id);
    if (elsewhere !== -1) {
      throw conflict(
        `groupIds[${elsewhere}]`,
        'has become part of another exception meanwhile: split it off there first',
      );
    }
    const merged = added.flatMap(({ id, mergedIds }) => [
      { groupId: id, fromGroupId: null },
      ...mergedIds.map((groupId) => ({ groupId, fromGroupId: id })),
    ]);
    if (into.mergedIds.length + merged.length > MERGED_MAX) {
      throw conflict('intoGroupId', `cannot be made of more than ${MERGED_MAX} others`);
    }
    await stores.groupMerges.merge(
      merged.map(({ groupId }) => groupId),
      into.id,
      now,
    );
    await stores.exceptionCounts.markDue([into.id], now);
    for (const { groupId, fromGroupId } of merged) {
      record({ target: groupId, before: { mergedInto: fromGroupId }, after: { mergedInto: into.id } });
    }
    const before = into.mergedIds.length;
    if (merged.length > 0) {
      record({ target: into.id, before: { parts: before }, after: { parts: before + merged.length } });
      await recordActivity(context, into.id, { kind: 'merged', groups: added.length });
      for (const { id } of added) await recordActivity(context, id, { kind: 'merged_into', groupId: into.id });
    }
    return { merged };
  },
});

function conflict(path: string, message: string): AppError {
  return new AppError('conflict', message, { faults: [{ path, message }] });
}
