import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, searchInput, timeCursorOf } from '#actions/list_page.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { PERMISSIONS } from '#kernel/permissions.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import {
  ApiKeyView,
  auditedApiKey,
  KeyKind,
  makeApiKey,
  NewApiKeyView,
  PermissionName,
  toApiKeyView,
} from '#modules/api_keys/operations/add_api_key.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { visibleOwner } from '#modules/organizations/roles.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';

export const createApiKey = defineOperation({
  name: 'create_api_key',
  stepUp: true,
  summary:
    'Create an API key of your own, at most with your own permissions, or one of the organization, which owners and admins may. The secret is shown this once.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({
    name: Name,
    kind: KeyKind,
    permissions: nullable(Type.Array(PermissionName, { maxItems: PERMISSIONS.length })),
    expiresAt: nullable(Type.String({ description: 'RFC 3339, in the future' })),
  }),
  result: NewApiKeyView,
  example: { name: 'CI', kind: 'user', permissions: ['services:view'], expiresAt: null },
  async handle({ name, kind, permissions, expiresAt }, context) {
    const { caller, now, record } = context;
    if (kind === 'organization' && !caller.permissions.has('organization:manage')) {
      throw new AppError('forbidden', 'keys of the organization are for owners and admins');
    }
    const lacking = (permissions ?? []).filter((permission) => !caller.permissions.has(permission));
    if (lacking.length > 0) {
      throw new AppError('forbidden', `a key cannot have a permission that you lack: ${lacking.join(', ')}`);
    }
    const createdBy = callerUser(caller);
    const { view, change } = await makeApiKey(context, {
      orgId: caller.orgId,
      userId: kind === 'user' ? createdBy : null,
      name,
      permissions,
      expiresAt: expiresAt === null ? null : requireFuture(expiresAt, now),
      createdBy,
    });
    record(change);
    return view;
  },
});

function requireFuture(text: string, now: Temporal.Instant): Temporal.Instant {
  const at = unwrap(parseInstant(text, 'UTC', 'expiresAt'));
  if (isAtOrBefore(at, now)) throw invalidInput([{ path: 'expiresAt', message: 'must be in the future' }]);
  return at;
}

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listApiKeys = defineOperation({
  name: 'list_api_keys',
  summary: 'Find your own API keys, or all of the organization for owners and admins, page by page; newest first.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name, of how the key begins, or of whose it is'),
    creatorId: Type.Optional(
      Type.String({ maxLength: 200, description: 'only keys of the organization that this person created' }),
    ),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
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
    return { apiKeys: shown.map(toApiKeyView), total: await stores.apiKeys.count(caller.orgId, wanted), nextCursor };
  },
});

export const revokeApiKey = defineOperation({
  name: 'revoke_api_key',
  summary: 'Revoke an API key: it is refused from the next request on.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({ apiKeyId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), apiKeyId: IdText }),
  async handle({ apiKeyId }, { caller, stores, now, record }) {
    const apiKey = await stores.apiKeys.find(caller.orgId, apiKeyId);
    const owner = visibleOwner(caller);
    const isTheirs = apiKey !== null && (owner === null || apiKey.userId === owner);
    if (!isTheirs || !(await stores.apiKeys.revoke(apiKeyId, now))) {
      throw new AppError('not_found', 'there is no such key, or it is not yours');
    }
    record({ target: apiKeyId, before: auditedApiKey(toApiKeyView(apiKey)), after: null });
    return { deleted: true as const, apiKeyId };
  },
});
