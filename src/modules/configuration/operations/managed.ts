import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { IdText, STRICT, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
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

const Choice = Type.Enum([...MANAGED_CHANGES], {
  description: 'whether people may change in the console what a configuration file manages',
});

export const setManagedChanges = defineAction({
  name: 'set_managed_changes',
  consoleOnly: true,
  summary: 'Choose whether what a configuration file manages may also be changed in the console.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ managedChanges: Choice }, STRICT),
  result: Type.Object({ managedChanges: Choice }),
  example: { managedChanges: 'refused' },
  async handle({ managedChanges }, { stores, caller, record }) {
    const before = await stores.configuration.setManagedChanges(caller.orgId, managedChanges);
    record({ target: caller.orgId, before: { managedChanges: before }, after: { managedChanges } });
    return { managedChanges };
  },
});

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
