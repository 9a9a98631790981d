import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, IdText, Name } from '#actions/fields.ts';

export const renameOrganization = defineAction({
  name: 'rename_organization',
  consoleOnly: true,
  summary: 'Give the organization another name.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ name: Name }, CLOSED),
  result: Type.Object({ orgId: IdText, name: Type.String() }),
  example: { name: 'Northwind' },
  async handle({ name }, { caller, stores, record }) {
    const before = await stores.people.rename(caller.orgId, name.trim());
    record({ target: caller.orgId, before: { name: before }, after: { name: name.trim() } });
    return { orgId: caller.orgId, name: name.trim() };
  },
});
