import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { getOwnComment, lockGroup } from '#modules/exceptions/operations/activity/comments.ts';

export const deleteExceptionComment = defineAction({
  name: 'delete_exception_comment',
  consoleOnly: true,
  summary: "Delete one's own comment on an exception group.",
  permission: 'exceptions:edit',
  effect: 'delete',
  input: Type.Object({ groupId: IdText, activityId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), activityId: IdText }),
  example: { groupId: EXAMPLE_IDS.groupId, activityId: EXAMPLE_IDS.activityId },
  async handle({ groupId, activityId }, context) {
    const id = await lockGroup(groupId, context);
    const comment = await getOwnComment(id, activityId, context);
    await context.stores.groupActivity.delete(comment.id);
    context.record({ target: id, before: { activityId: comment.id, length: comment.body.length }, after: null });
    return { deleted: true as const, activityId: comment.id };
  },
});
