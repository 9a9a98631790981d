import { Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText } from '#actions/fields.ts';
import { forManagers, forOwners, lockRoles, managesOrganization, requireAnotherOwner } from '#actions/people/roles.ts';

/** Only an owner can make or remove owners. There is always at least one. */
export const changeRole = defineAction({
  name: 'change_role',
  consoleOnly: true,
  stepUp: true,
  summary: 'Give a member another role. Only an owner can make or remove owners. There is always at least one.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ userId: IdText, role: RoleName }, CLOSED),
  result: Type.Object({ userId: IdText, role: RoleName }),
  conflict: 'the last owner cannot be given another role',
  example: { userId: EXAMPLE_IDS.userId, role: 'viewer' },
  async handle({ userId, role }, { caller, stores, now, record }) {
    const { id, before } = await lockRoles(stores, caller, userId);
    if (before.target === role) return { userId, role };
    if (before.caller !== 'owner' && (role === 'owner' || before.target === 'owner')) throw forOwners();
    if (!managesOrganization(before.caller)) throw forManagers(before.caller);
    await requireAnotherOwner(stores, caller.orgId, before.target);
    await stores.people.setMembership(caller.orgId, id, role, now);
    record({ target: id, before: { role: before.target }, after: { role } });
    return { userId, role };
  },
});
