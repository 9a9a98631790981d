import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, Timestamp } from '#actions/fields.ts';
import { MANAGED_CHANGES } from '#modules/configuration/decide/managed_changes.ts';
import { toTimestamp } from '#kernel/time.ts';

export const listConfigurationFiles = defineAction({
  name: 'list_configuration_files',
  consoleOnly: true,
  summary: 'List the configuration files of the organization, with how much each manages and when it was applied last.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    managedChanges: Type.Enum([...MANAGED_CHANGES]),
    files: Type.Array(Type.Object({ file: Type.String(), resources: Type.Integer(), changedAt: Timestamp })),
  }),
  example: {},
  async handle(_input, { stores, caller }) {
    const files = await stores.configuration.listFiles(caller.orgId);
    return {
      managedChanges: await stores.configuration.getManagedChanges(caller.orgId),
      files: files.map(({ file, resources, changedAt }) => ({ file, resources, changedAt: toTimestamp(changedAt) })),
    };
  },
});
