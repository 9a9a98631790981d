import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, RequestKey } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { COMMENTS_MAX } from '#modules/exceptions/decide/activity.ts';
import { CommentText, lockGroup } from '#modules/exceptions/operations/activity/comments.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { AppError } from '#kernel/errors.ts';

export const addExceptionComment = defineAction({
  name: 'add_exception_comment',
  consoleOnly: true,
  summary: 'Comment on an exception group; everybody of the organization reads it in its history.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ groupId: IdText, text: CommentText, requestKey: RequestKey }, STRICT),
  result: Type.Object({ activityId: IdText }),
  conflict: `the group has ${COMMENTS_MAX} comments`,
  example: {
    groupId: EXAMPLE_IDS.groupId,
    text: 'The provider declines cards of this bank since Monday.',
    requestKey: '0b6f3c52-7d0e-4f5e-9a41-2f9f0c6f7f11',
  },
  async handle({ groupId, text, requestKey }, context) {
    const { caller, stores, now, record } = context;
    const userId = callerUser(caller);
    const id = await lockGroup(groupId, context);
    const actor = toIncidentActor(caller.actor, caller.via);
    const comment = { orgId: caller.orgId, groupId: id, actor, userId, body: text.trim(), requestKey };
    const earlier = await stores.groupActivity.findComment(comment);
    if (earlier !== null) return { activityId: earlier.id };
    if ((await stores.groupActivity.countComments(id)) >= COMMENTS_MAX) {
      throw new AppError('conflict', `an exception has at most ${COMMENTS_MAX} comments; edit or delete one of yours`);
    }
    const added = await stores.groupActivity.addComment(comment, now);
    record({ target: id, before: null, after: { activityId: added.id, length: comment.body.length } });
    return { activityId: added.id };
  },
});
