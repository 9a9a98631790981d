import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { ApiKeyView, toApiKeyView } from '#modules/api_keys/operations/view.ts';
import { pageInput, pageOf, parseTimeCursor, searchInput, timeCursorOf } from '#actions/list_page.ts';
import { visibleOwner } from '#modules/organizations/visible_owner.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listApiKeys = defineAction({
  name: 'list_api_keys',
  consoleOnly: true,
  summary: 'Find your own API keys, or all of the organization for owners and admins, page by page; newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name, of how the key begins, or of whose it is'),
      creatorId: Type.Optional(
        Type.String({ maxLength: 200, description: 'only keys of the organization that this person created' }),
      ),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({
    apiKeys: Type.Array(ApiKeyView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'report',
    creatorId: 'user_01k9z7c9d0e1f2g3h4j5k6m7np',
    cursor: '1767225600000.apikey_01k9z8ka1b2c3d4e5f6g7h8jkn',
    limit: 20,
  },
  async handle({ text, creatorId, cursor, limit = LIMIT }, { caller, stores }) {
    const wanted = { ofUser: visibleOwner(caller), text: text?.trim(), creatorId };
    const keys = await stores.apiKeys.list(caller.orgId, wanted, {
      after: cursor === undefined ? null : parseTimeCursor('apikey', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(keys, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.apiKeyId }),
    );
    return {
      apiKeys: shown.map(toApiKeyView),
      total: await stores.apiKeys.count(caller.orgId, wanted),
      nextCursor,
    };
  },
});
