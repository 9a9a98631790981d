import { Type } from 'typebox';

import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { CommentText, getOwnComment, lockGroup } from '#modules/exceptions/operations/activity/comments.ts';
import { AppError } from '#kernel/errors.ts';

export const editExceptionComment = defineAction({
  name: 'edit_exception_comment',
  consoleOnly: true,
  summary: "Change the text of one's own comment on an exception group.",
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      groupId: IdText,
      activityId: IdText,
      text: CommentText,
      before: Type.String({
        maxLength: NOTE_LENGTH_MAX,
        description: 'the text that is changed: another one is a conflict',
      }),
    },
    STRICT,
  ),
  result: Type.Object({ activityId: IdText }),
  conflict: 'the comment was changed meanwhile',
  example: {
    groupId: EXAMPLE_IDS.groupId,
    activityId: EXAMPLE_IDS.activityId,
    text: 'The provider declines all cards of this bank since Monday.',
    before: 'The provider declines cards of this bank since Monday.',
  },
  async handle({ groupId, activityId, text, before }, context) {
    const { stores, now, record } = context;
    const id = await lockGroup(groupId, context);
    const comment = await getOwnComment(id, activityId, context);
    const body = text.trim();
    if (comment.body === body) return { activityId: comment.id };
    if (!(await stores.groupActivity.edit(comment.id, before, body, now))) {
      throw new AppError('conflict', 'you have changed this comment elsewhere; look at its text now');
    }
    const change = { activityId: comment.id, length: comment.body.length };
    record({ target: id, before: change, after: { ...change, length: body.length, isEdited: true } });
    return { activityId: comment.id };
  },
});
