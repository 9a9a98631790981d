import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { RoleName } from '#modules/accounts/view.ts';
import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { listPagedBy } from '#modules/organizations/lowered_role.ts';
import {
  forManagers,
  forOwners,
  lockRoles,
  managesOrganization,
  requireAnotherOwner,
} from '#modules/organizations/roles.ts';
import { DutyWarnings, readDutyWarnings } from '#modules/teams/warnings.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer, type Role, ROLES } from '#kernel/permissions.ts';
import type { Stores } from '#modules/stores.ts';

const NAMED_MAX = 10;

const RoleRead = Type.Enum([...ROLES], { description: 'the role that was read' });

/** Changes the role of a member. Only an owner can make or remove owners, and there is always at least one. */
export const changeRole = defineAction({
  name: 'change_role',
  consoleOnly: true,
  stepUp: true,
  summary: 'Give a member another role. Only an owner can make or remove owners. There is always at least one.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ userId: IdText, role: RoleName, basedOn: Type.Optional(RoleRead) }, STRICT),
  result: Type.Object({ userId: IdText, role: RoleName, warnings: DutyWarnings }),
  conflict: 'the last owner cannot be given another role, or somebody has changed the role since it was read',
  example: { userId: EXAMPLE_IDS.userId, role: 'viewer', basedOn: 'editor' },
  async handle({ userId, role, basedOn }, context) {
    const { caller, stores, now, record } = context;
    const { id, before } = await lockRoles(stores, caller, userId);
    if (before.target === role) return { userId, role, warnings: [] };
    if (before.caller !== 'owner' && (role === 'owner' || before.target === 'owner')) throw forOwners();
    if (!managesOrganization(before.caller)) throw forManagers(before.caller);
    if (basedOn !== undefined && basedOn !== before.target) {
      const changedBy = await findWhoGave(stores, caller.orgId, id, before.target);
      throw new AppError('conflict', `${changedBy} has made this member ${before.target} since you opened this`);
    }
    await requireAnotherOwner(stores, caller.orgId, before.target);
    await stores.people.setMembership(caller.orgId, id, role, now);
    record({ target: id, before: { role: before.target }, after: { role } });
    return { userId, role, warnings: await readLoweredWarnings(id, role, context) };
  },
});

/** Returns warnings when the new role cannot answer and schedules or policies still page the person. */
async function readLoweredWarnings(userId: Id<'user'>, role: Role, context: ActionContext): Promise<string[]> {
  const { caller, stores, now } = context;
  if (mayAnswer(role)) return [];
  const paging = await listPagedBy(stores, caller.orgId, userId, now);
  const names = [...new Set(paging.map(({ name }) => `"${name}"`))];
  if (names.length === 0) return [];
  const [warning = ''] = await readDutyWarnings([userId], context);
  return [
    `${warning} These page them: ${names.slice(0, NAMED_MAX).join(', ')}${names.length > NAMED_MAX ? ' and others' : ''}.`,
  ];
}

async function findWhoGave(
  { auditLog }: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  role: Role,
): Promise<string> {
  const [last] = await auditLog.list(orgId, { action: 'change_role', target: userId, result: 'done' }, null, 1);
  return (last !== undefined && isDeepStrictEqual(last.after, { role }) ? last.actorName : null) ?? 'somebody';
}
