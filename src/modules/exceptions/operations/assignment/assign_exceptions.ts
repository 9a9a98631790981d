import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { type Assignee, assigneeIdOf, getAssignee, NOBODY } from '#modules/exceptions/assignees.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { invalidInput } from '#kernel/errors.ts';

const GROUPS_MAX = 200;

const To = Type.Object(
  { userId: Type.Optional(IdText), teamId: Type.Optional(IdText) },
  { ...STRICT, description: 'exactly one of them' },
);

export const assignExceptions = defineAction({
  name: 'assign_exceptions',
  consoleOnly: true,
  summary:
    'Assign exception groups, all or none, to a member of the organization or to a team; null takes them from everybody. ' +
    'Nobody is paged.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    { groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }), to: nullable(To) },
    STRICT,
  ),
  result: Type.Object({
    changed: Type.Array(
      Type.Object({
        groupId: IdText,
        before: Type.Object({ userId: nullable(IdText), teamId: nullable(IdText) }),
      }),
      { description: 'without those that were assigned so already' },
    ),
    assigneeName: nullable(Type.String()),
  }),
  example: { groupIds: [EXAMPLE_IDS.groupId], to: { userId: EXAMPLE_IDS.userId } },
  async handle({ groupIds, to }, context) {
    const { caller, stores, now, record } = context;
    const assignee = to === null ? null : await readAssignee(to, context);
    const { assignedUserId, assignedTeamId } = assignee ?? NOBODY;
    const after = { assignedUserId, assignedTeamId };
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    const changed = [];
    for (const groupId of groupIds) {
      const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
      const before = { assignedUserId: group.assignedUserId, assignedTeamId: group.assignedTeamId };
      if (assigneeIdOf(before) === assigneeIdOf(after)) continue;
      changed.push({ groupId: group.id, before: { userId: before.assignedUserId, teamId: before.assignedTeamId } });
      record({ target: group.id, before, after });
      const facts = { assigneeId: assigneeIdOf(after), name: assignee?.name ?? null };
      await recordActivity(context, group.id, { kind: 'assigned', ...facts });
    }
    await stores.groupAssignments.assign(
      changed.map(({ groupId }) => groupId),
      after,
      now,
    );
    return { changed, assigneeName: assignee?.name ?? null };
  },
});

/** Throws `not_found` for somebody who is not a member, and for a team that is not there. */
async function readAssignee(
  { userId, teamId }: { readonly userId?: string; readonly teamId?: string },
  { caller, stores }: ActionContext,
): Promise<Assignee> {
  if (userId !== undefined && teamId === undefined) return await getAssignee(stores, caller.orgId, 'user', userId);
  if (teamId !== undefined && userId === undefined) return await getAssignee(stores, caller.orgId, 'team', teamId);
  throw invalidInput([{ path: 'to', message: 'name a person (userId) or a team (teamId), and not both' }]);
}
