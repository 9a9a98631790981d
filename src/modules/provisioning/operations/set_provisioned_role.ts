import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { PROVISIONED_ROLES } from '#modules/provisioning/decide/provisioned_role.ts';
import { requireOwner } from '#modules/provisioning/require_owner.ts';

const RoleField = Type.Enum([...PROVISIONED_ROLES]);

export const setProvisionedRole = defineAction({
  name: 'set_provisioned_role',
  consoleOnly: true,
  stepUp: true,
  summary: 'Set the role of people whom the identity provider brings in and whom no mapped group gives another.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ role: RoleField }, STRICT),
  result: Type.Object({ role: RoleField }),
  example: { role: 'responder' },
  async handle({ role }, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.provisioning.findProvisionedRole(caller.orgId);
    await stores.provisioning.setProvisionedRole(caller.orgId, role);
    record({ target: caller.orgId, before: { provisionedRole: before }, after: { provisionedRole: role } });
    return { role };
  },
});
