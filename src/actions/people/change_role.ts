import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { forManagers, forOwners, lockRoles, managesOrganization, requireAnotherOwner } from '#actions/people/roles.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Role, ROLES } from '#kernel/permissions.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const RoleRead = Type.Enum([...ROLES], { description: 'the role that was read' });

/** Only an owner can make or remove owners. There is always at least one. */
export const changeRole = defineAction({
  name: 'change_role',
  consoleOnly: true,
  stepUp: true,
  summary: 'Give a member another role. Only an owner can make or remove owners. There is always at least one.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ userId: IdText, role: RoleName, basedOn: Type.Optional(RoleRead) }, CLOSED),
  result: Type.Object({ userId: IdText, role: RoleName }),
  conflict: 'the last owner cannot be given another role, or somebody has changed the role since it was read',
  example: { userId: EXAMPLE_IDS.userId, role: 'viewer', basedOn: 'editor' },
  async handle({ userId, role, basedOn }, { caller, stores, now, record }) {
    const { id, before } = await lockRoles(stores, caller, userId);
    if (before.target === role) return { userId, role };
    if (before.caller !== 'owner' && (role === 'owner' || before.target === 'owner')) throw forOwners();
    if (!managesOrganization(before.caller)) throw forManagers(before.caller);
    if (basedOn !== undefined && basedOn !== before.target) {
      const changedBy = await findWhoGave(stores, caller.orgId, id, before.target);
      throw new AppError('conflict', `${changedBy} has made this member ${before.target} since you opened this`);
    }
    await requireAnotherOwner(stores, caller.orgId, before.target);
    await stores.people.setMembership(caller.orgId, id, role, now);
    record({ target: id, before: { role: before.target }, after: { role } });
    return { userId, role };
  },
});

async function findWhoGave(
  { auditLog }: Pick<Stores, 'auditLog'>,
  orgId: Id<'org'>,
  userId: Id<'user'>,
  role: Role,
): Promise<string> {
  const [last] = await auditLog.list(orgId, { action: 'change_role', target: userId, result: 'done' }, null, 1);
  return (last !== undefined && isDeepStrictEqual(last.after, { role }) ? last.actorName : null) ?? 'somebody';
}
