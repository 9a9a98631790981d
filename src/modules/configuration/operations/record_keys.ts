import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { RESOURCE_KINDS } from '#modules/configuration/decide/resource.ts';

const KEYS_MAX = 500;
const Kind = Type.Enum([...RESOURCE_KINDS]);
/** Longer than a key: those of members and overrides are put together. */
const KEY_LENGTH_MAX = 400;

/** Records which resources a file manages; nothing else changes. What is not of the organization is passed over. */
export const recordKeys = defineAction({
  name: 'record_keys',
  consoleOnly: true,
  summary: 'Record the keys that a configuration file has for resources that are there, and forget those of others.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      file: Type.String({ minLength: 1, maxLength: 200 }),
      record: Type.Array(
        Type.Object(
          { kind: Kind, key: Type.String({ maxLength: KEY_LENGTH_MAX }), id: IdText, isMade: Type.Boolean() },
          STRICT,
        ),
        { maxItems: KEYS_MAX },
      ),
      forget: Type.Array(Type.Object({ kind: Kind, key: Type.String({ maxLength: KEY_LENGTH_MAX }) }, STRICT), {
        maxItems: KEYS_MAX,
      }),
    },
    STRICT,
  ),
  result: Type.Object({ recorded: Type.Integer(), forgotten: Type.Integer() }),
  example: {
    file: 'tocsin.yaml',
    record: [{ kind: 'team', key: 'payments', id: 'team_01k9z7c9d0e1f2g3h4j5k6m7np', isMade: false }],
    forget: [],
  },
  async handle({ file, record, forget }, context) {
    const { stores, caller, now } = context;
    const named = record.map(({ id, ...resource }) => ({ ...resource, resourceId: id, file }));
    const resources = await stores.configuration.filterOwn(caller.orgId, named);
    await stores.configuration.forget(caller.orgId, forget);
    await stores.configuration.record(caller.orgId, resources, now);
    context.record({
      target: caller.orgId,
      before: null,
      after: { file, recorded: resources.length, forgotten: forget.length },
    });
    return { recorded: resources.length, forgotten: forget.length };
  },
});
