import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';

export const renameOrganization = defineAction({
  name: 'rename_organization',
  consoleOnly: true,
  summary: 'Rename the organization.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object(
    {
      name: Name,
      basedOn: Type.Optional(Type.String({ maxLength: 500, description: 'the name that was read' })),
    },
    STRICT,
  ),
  result: Type.Object({ orgId: IdText, name: Type.String() }),
  conflict: 'somebody has renamed it since it was read',
  example: { name: 'Northwind', basedOn: 'Acme' },
  async handle({ name, basedOn }, { caller, stores, record }) {
    const before = await stores.people.rename(caller.orgId, name.trim());
    if (basedOn !== undefined) {
      changesSince({ name: basedOn }, { name: before }, { name: name.trim() }, 'the name of the organization');
    }
    record({ target: caller.orgId, before: { name: before }, after: { name: name.trim() } });
    return { orgId: caller.orgId, name: name.trim() };
  },
});
