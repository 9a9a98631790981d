import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, RequestKey, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { callerUser, PersonColorNumber } from '#modules/accounts/view.ts';
import type { ShownPerson } from '#modules/accounts/store/people_store.ts';
import { COMMENTS_MAX } from '#modules/exceptions/decide/activity.ts';
import { ISSUE_URL_LENGTH_MAX } from '#modules/exceptions/decide/issue_link.ts';
import { GroupStatusName } from '#modules/exceptions/operations/view.ts';
import { recordActivity } from '#modules/exceptions/assignees.ts';
import type { ActivityRow } from '#modules/exceptions/store/group_activity_store.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';

const LIMIT = 30;
const LIMIT_MAX = 100;

const Count = nullable(Type.Integer());

const FactsView = Type.Union([
  Type.Object({ kind: Type.Literal('comment') }),
  Type.Object({
    kind: Type.Literal('status'),
    before: GroupStatusName,
    after: GroupStatusName,
    fixedIn: Type.Optional(Type.Object({ release: Type.String(), isNext: Type.Boolean() })),
  }),
  Type.Object({ kind: Type.Literal('snoozed'), until: nullable(Timestamp), events: Count, users: Count }),
  Type.Object({
    kind: Type.Literal('snooze_ended'),
    because: Type.Enum(['time', 'events', 'users']),
    events: Count,
    users: Count,
  }),
  Type.Object({
    kind: Type.Literal('assigned'),
    assigneeId: nullable(IdText),
    name: nullable(Type.String()),
    rule: Type.Optional(Type.Integer({ description: 'position of the assignment rule that decided' })),
  }),
  Type.Object({ kind: Type.Literal('regressed'), release: nullable(Type.String()) }),
  Type.Object({ kind: Type.Literal('merged'), groups: Type.Integer() }),
  Type.Object({ kind: Type.Literal('merged_into'), groupId: IdText }),
  Type.Object({ kind: Type.Literal('split_off'), groupId: IdText }),
  Type.Object({ kind: Type.Literal('issue'), url: nullable(Type.String()) }),
]);

const ActivityView = Type.Object({
  activityId: IdText,
  at: Timestamp,
  by: Type.Object(
    { userId: nullable(IdText), name: nullable(Type.String()), color: nullable(PersonColorNumber) },
    { description: 'a person, or the name of a key or app; both null for the product itself' },
  ),
  facts: FactsView,
  text: nullable(Type.String({ description: 'of a comment' })),
  editedAt: nullable(Timestamp),
});

/** Lists the comments on a group and what was done to it. */
export const listExceptionActivity = defineOperation({
  name: 'list_exception_activity',
  summary:
    'List the comments on an exception group and its history, newest first: who resolved, snoozed, assigned, merged or ' +
    'commented, and when it came back.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText, ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({ entries: Type.Array(ActivityView), nextCursor: nullable(Type.String()) }),
  example: { cursor: `1801620255000.${EXAMPLE_IDS.activityId}`, limit: 20 },
  async handle({ groupId, cursor, limit = LIMIT }, { caller, stores, now }) {
    const after = cursor === undefined ? null : parseTimeCursor('activity', cursor);
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const read = await stores.groupActivity.list(group.id, after, limit + 1);
    const { shown, nextCursor } = pageOf(read, limit, timeCursorOf);
    const userIds = shown.flatMap(({ actor }) => ('userId' in actor ? actor.userId : []));
    const people = await stores.people.listPeople(caller.orgId, userIds);
    return { entries: shown.map((entry) => toActivityView(entry, people)), nextCursor };
  },
});

function toActivityView(
  { id, at, actor, facts, body, editedAt }: ActivityRow,
  people: ReadonlyMap<string, ShownPerson>,
): Static<typeof ActivityView> {
  const userId = 'userId' in actor ? actor.userId : null;
  const program = 'system' in actor ? null : (actor.apiKeyName ?? ('apiKeyId' in actor ? 'An API key' : null));
  return {
    activityId: id,
    at: toTimestamp(at),
    by: {
      userId,
      name: userId === null ? program : (people.get(userId)?.name ?? 'Somebody who has left'),
      color: people.get(userId ?? '')?.color ?? null,
    },
    facts,
    text: body,
    editedAt: toTimestampOrNull(editedAt),
  };
}

const CommentText = Type.String({
  minLength: 1,
  maxLength: NOTE_LENGTH_MAX,
  pattern: '\\S',
  description: 'a text that is not blank',
});

/** Locks a group and returns its id. Throws `not_found`. */
async function lockGroup(groupId: string, { caller, stores, now }: ActionContext): Promise<Id<'group'>> {
  await stores.exceptionGroups.lockInOrder(caller.orgId, [groupId]);
  return (await stores.exceptionGroups.get(caller.orgId, groupId, now)).id;
}

/** Returns a comment of the caller's own. Throws `not_found`, or `forbidden` for somebody else's. */
async function getOwnComment(
  groupId: Id<'group'>,
  activityId: string,
  { caller, stores }: ActionContext,
): Promise<ActivityRow & { readonly body: string }> {
  const entry = await stores.groupActivity.find(groupId, activityId);
  if (entry === null || entry.body === null) throw notFound('activityId', 'comment');
  if (entry.userId !== callerUser(caller)) throw new AppError('forbidden', 'only who wrote a comment may change it');
  return { ...entry, body: entry.body };
}

export const addExceptionComment = defineOperation({
  name: 'add_exception_comment',
  summary: 'Comment on an exception group; everybody of the organization reads it in its history.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ groupId: IdText, text: CommentText, requestKey: RequestKey }),
  result: Type.Object({ activityId: IdText }),
  conflict: `the group has ${COMMENTS_MAX} comments`,
  example: {
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

export const editExceptionComment = defineOperation({
  name: 'edit_exception_comment',
  summary: "Change the text of one's own comment on an exception group.",
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupId: IdText,
    activityId: IdText,
    text: CommentText,
    before: Type.String({
      maxLength: NOTE_LENGTH_MAX,
      description: 'the text that is changed: another one is a conflict',
    }),
  }),
  result: Type.Object({ activityId: IdText }),
  conflict: 'the comment was changed meanwhile',
  example: {
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

export const deleteExceptionComment = defineOperation({
  name: 'delete_exception_comment',
  summary: "Delete one's own comment on an exception group.",
  permission: 'exceptions:edit',
  effect: 'delete',
  input: StrictObject({ groupId: IdText, activityId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), activityId: IdText }),
  async handle({ groupId, activityId }, context) {
    const id = await lockGroup(groupId, context);
    const comment = await getOwnComment(id, activityId, context);
    await context.stores.groupActivity.delete(comment.id);
    context.record({ target: id, before: { activityId: comment.id, length: comment.body.length }, after: null });
    return { deleted: true as const, activityId: comment.id };
  },
});

export const watchException = defineOperation({
  name: 'watch_exception',
  summary:
    'Ask for one mail when a resolved exception group comes back, or ask for it no more. It says nothing to anybody else.',
  permission: 'exceptions:view',
  effect: 'write',
  input: StrictObject({ groupId: IdText, isWatched: Type.Boolean() }),
  result: Type.Object({ groupId: IdText, isWatched: Type.Boolean() }),
  example: { isWatched: true },
  async handle({ groupId, isWatched }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const { id } = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const wasWatched = await stores.groupWatchers.has(id, userId);
    if (isWatched) await stores.groupWatchers.add(id, userId, now);
    else await stores.groupWatchers.remove(id, userId);
    record({ target: id, before: { isWatched: wasWatched }, after: { isWatched } });
    return { groupId: id, isWatched };
  },
});

export const setExceptionIssue = defineOperation({
  name: 'set_exception_issue',
  summary: 'Link an exception group with its issue in a tracker, by the address of the issue; null removes the link.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupId: IdText,
    url: nullable(
      Type.String({
        maxLength: ISSUE_URL_LENGTH_MAX,
        pattern: '^https?://[^\\s/]+',
        description: 'an address of the web',
      }),
    ),
  }),
  result: Type.Object({ groupId: IdText, url: nullable(Type.String()) }),
  example: { url: 'https://tracker.example.com/SHOP-42' },
  async handle({ groupId, url }, context) {
    const { caller, stores, now, record } = context;
    const id = await lockGroup(groupId, context);
    const { issueUrl } = await stores.exceptionGroups.get(caller.orgId, id, now);
    if (issueUrl === url) return { groupId: id, url };
    await stores.groupAssignments.saveIssue(id, url, now);
    await stores.issueTrackers.forgetIssue(id);
    record({ target: id, before: { issueUrl }, after: { issueUrl: url } });
    await recordActivity(context, id, { kind: 'issue', url });
    return { groupId: id, url };
  },
});
