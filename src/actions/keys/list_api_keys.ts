import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED } from '#actions/fields.ts';
import { ApiKeyView, toApiKeyView } from '#actions/keys/view.ts';
import { visibleOwner } from '#actions/people/visible_owner.ts';

export const listApiKeys = defineAction({
  name: 'list_api_keys',
  consoleOnly: true,
  summary: 'List your own API keys, or all of the organization for owners and admins; newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ apiKeys: Type.Array(ApiKeyView) }),
  example: {},
  async handle(_input, { caller, stores }) {
    const keys = await stores.apiKeys.list(caller.orgId, visibleOwner(caller), LIST_LIMIT);
    return { apiKeys: keys.map(toApiKeyView) };
  },
});
