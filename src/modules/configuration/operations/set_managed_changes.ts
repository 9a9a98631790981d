import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { MANAGED_CHANGES } from '#modules/configuration/decide/managed_changes.ts';

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
