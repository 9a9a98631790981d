import { Type } from 'typebox';

import { IdText } from '#actions/fields.ts';
import {
  ApiKeyInput,
  ApiKeyView,
  createApiKey,
  listApiKeys,
  NewApiKeyView,
  revokeApiKey,
} from '#actions/keys/api_keys.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { consoleRoute } from '#entry/http/console/route.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export const API_KEY_ROUTES = [
  consoleRoute({
    name: 'list_api_keys',
    method: 'GET',
    path: '/organizations/:org/api-keys',
    tag: 'Organizations',
    summary: 'List your own API keys, or all of the organization for owners and admins; newest first.',
    access: 'member',
    result: Type.Object({ apiKeys: Type.Array(ApiKeyView) }),
    handle: ({ house, caller }) => listApiKeys(storesOf(house.db.session()), caller),
  }),
  consoleRoute({
    name: 'create_api_key',
    stepUp: true,
    method: 'POST',
    path: '/organizations/:org/api-keys',
    tag: 'Organizations',
    summary:
      'Create an API key of your own, at most with your own permissions, or one of the organization, which owners and admins may. The secret is shown this once.',
    access: 'member',
    body: ApiKeyInput,
    result: NewApiKeyView,
    refusals: ['forbidden'],
    handle: ({ house, caller, body, origin }) =>
      inUnitOfWork(house.actions, (unit) => createApiKey(unit, caller, body, origin)),
  }),
  consoleRoute({
    name: 'revoke_api_key',
    method: 'DELETE',
    path: '/organizations/:org/api-keys/:apiKeyId',
    tag: 'Organizations',
    summary: 'Revoke an API key: it is refused from the next request on.',
    access: 'member',
    result: Type.Object({ deleted: Type.Literal(true), apiKeyId: IdText }),
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, (unit) => revokeApiKey(unit, caller, params['apiKeyId'] ?? '', origin)),
  }),
];
