import { type Static, Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { GroupStatusName } from '#modules/exceptions/operations/view.ts';
import type { ActivityRow } from '#modules/exceptions/store/group_activity_store.ts';
import type { Person } from '#modules/accounts/store/people_store.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

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
    { userId: nullable(IdText), name: nullable(Type.String()) },
    { description: 'a person, or the name of a key or app; both null for the product itself' },
  ),
  facts: FactsView,
  text: nullable(Type.String({ description: 'of a comment' })),
  editedAt: nullable(Timestamp),
});

/** Lists the comments on a group and what was done to it. */
export const listExceptionActivity = defineAction({
  name: 'list_exception_activity',
  consoleOnly: true,
  summary:
    'List the comments on an exception group and its history, newest first: who resolved, snoozed, assigned, merged or ' +
    'commented, and when it came back.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ groupId: IdText, ...pageInput(LIMIT, LIMIT_MAX) }, STRICT),
  result: Type.Object({ entries: Type.Array(ActivityView), nextCursor: nullable(Type.String()) }),
  example: { groupId: EXAMPLE_IDS.groupId, cursor: `1801620255000.${EXAMPLE_IDS.activityId}`, limit: 20 },
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
  people: ReadonlyMap<string, Person>,
): Static<typeof ActivityView> {
  const userId = 'userId' in actor ? actor.userId : null;
  const program = 'system' in actor ? null : (actor.apiKeyName ?? ('apiKeyId' in actor ? 'An API key' : null));
  return {
    activityId: id,
    at: toTimestamp(at),
    by: { userId, name: userId === null ? program : (people.get(userId)?.name ?? 'Somebody who has left') },
    facts,
    text: body,
    editedAt: toTimestampOrNull(editedAt),
  };
}
