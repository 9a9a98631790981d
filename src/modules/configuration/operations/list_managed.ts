import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { MANAGED_CHANGES } from '#modules/configuration/decide/managed_changes.ts';

export const listManaged = defineAction({
  name: 'list_managed',
  consoleOnly: true,
  summary:
    'Tell which of these are managed by a configuration file, under which key, and whether people may change them.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({ ids: Type.Array(IdText, { maxItems: 200 }) }, STRICT),
  result: Type.Object({
    managedChanges: Type.Enum([...MANAGED_CHANGES]),
    managed: Type.Array(Type.Object({ id: IdText, kind: Type.String(), key: Type.String(), file: Type.String() })),
  }),
  example: { ids: ['team_01k9z7c9d0e1f2g3h4j5k6m7np'] },
  async handle({ ids }, { stores, caller }) {
    const marks = await stores.configuration.listMarks(caller.orgId, ids);
    return {
      managedChanges: await stores.configuration.getManagedChanges(caller.orgId),
      managed: marks.map(({ resourceId, kind, key, file }) => ({ id: resourceId, kind, key, file })),
    };
  },
});
