import { Type } from 'typebox';

import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import type { ActivityRow } from '#modules/exceptions/store/group_activity_store.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

export const CommentText = Type.String({
  minLength: 1,
  maxLength: NOTE_LENGTH_MAX,
  pattern: '\\S',
  description: 'a text that is not blank',
});

/** Locks a group and returns its id. Throws `not_found`. */
export async function lockGroup(groupId: string, { caller, stores, now }: ActionContext): Promise<Id<'group'>> {
  await stores.exceptionGroups.lockInOrder(caller.orgId, [groupId]);
  return (await stores.exceptionGroups.get(caller.orgId, groupId, now)).id;
}

/** Returns a comment of the caller's own. Throws `not_found`, or `forbidden` for somebody else's. */
export async function getOwnComment(
  groupId: Id<'group'>,
  activityId: string,
  { caller, stores }: ActionContext,
): Promise<ActivityRow & { readonly body: string }> {
  const entry = await stores.groupActivity.find(groupId, activityId);
  if (entry === null || entry.body === null) throw notFound('activityId', 'comment');
  if (entry.userId !== callerUser(caller)) {
    throw new AppError('forbidden', 'only who wrote a comment may change it');
  }
  return { ...entry, body: entry.body };
}
