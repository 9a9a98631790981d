import { type Static, Type } from 'typebox';

import { type Change, defineOperation, recordChange } from '#actions/action_context.ts';
import { IdText, Name, nullable, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, searchInput, timeCursorOf } from '#actions/list_page.ts';
import { issueApiKey } from '#auth/api_keys.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Permission, PERMISSIONS } from '#kernel/permissions.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import type { ListedApiKey } from '#modules/api_keys/store.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { visibleOwner } from '#modules/organizations/roles.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import type { UnitOfWork } from '#modules/stores.ts';

interface WantedKey {
  readonly orgId: Id<'org'>;
  /** User of the key; null for a key of the organization. */
  readonly userId: Id<'user'> | null;
  readonly name: string;
  /** Permissions of the key; null for all that the role allows, or all there are. */
  readonly permissions: readonly Permission[] | null;
  /** Time when it expires; null: it works until it is revoked. */
  readonly expiresAt: Temporal.Instant | null;
  /** Creator of the key; null: the command line. */
  readonly createdBy: Id<'user'> | null;
}

type Unit = Pick<UnitOfWork, 'stores' | 'now'>;

/** Makes a key that may do something. The secret is returned here and never again. */
async function makeApiKey(
  { stores, now }: Unit,
  { permissions, expiresAt, ...wanted }: WantedKey,
): Promise<{ view: Static<typeof NewApiKeyView>; change: Change }> {
  if (permissions?.length === 0) {
    throw invalidInput([
      {
        path: 'permissions',
        message: 'must name at least one permission; a key without permissions cannot do anything',
      },
    ]);
  }
  const fields = { ...wanted, permissions: permissions && [...new Set(permissions)] };
  const { keyId, key } = await issueApiKey(stores, { ...fields, ...(expiresAt && { expiresAt }) }, now);
  const made = await stores.apiKeys.find(wanted.orgId, keyId);
  if (made === null) throw new Error('a key that was just made is there');
  const view = toApiKeyView(made);
  return { view: { ...view, secret: key }, change: { target: keyId, before: null, after: auditedApiKey(view) } };
}

/** Creates the first key of an installation, or one made by the command line, with its audit row. */
export async function addApiKey(
  unit: Unit,
  wanted: Omit<WantedKey, 'createdBy'>,
  by: AuditedBy,
): Promise<Static<typeof NewApiKeyView>> {
  const { view, change } = await makeApiKey(unit, { ...wanted, createdBy: null });
  await recordChange(unit, wanted.orgId, by, { action: 'create_api_key', ...change });
  return view;
}

const PermissionName = Type.Enum([...PERMISSIONS]);
const KeyKind = Type.Enum(['user', 'organization']);

const KEY_FIELDS = {
  apiKeyId: IdText,
  name: Type.String(),
  kind: KeyKind,
  user: nullable(Type.Object({ userId: IdText, name: Type.String() })),
  hint: Type.String({ description: 'how the key begins' }),
  permissions: nullable(Type.Array(PermissionName, { description: 'null: all that the role has, or all there are' })),
  createdBy: nullable(
    Type.Object(
      { userId: IdText, name: Type.String() },
      { description: 'null: the first start, the command line, or somebody who is gone' },
    ),
  ),
  isBySystem: Type.Boolean({ description: 'made at the first start or by the command line' }),
  createdAt: Timestamp,
  lastUsedAt: nullable(Timestamp),
  expiresAt: nullable(Timestamp),
};

const ApiKeyView = Type.Object(KEY_FIELDS);

const NewApiKeyView = Type.Object({ ...KEY_FIELDS, secret: Type.String({ description: 'shown this once' }) });

function auditedApiKey({ name, kind, user, permissions, expiresAt }: Static<typeof ApiKeyView>): object {
  return { name, kind, userId: user?.userId ?? null, permissions, expiresAt };
}

export function toApiKeyView(key: ListedApiKey): Static<typeof ApiKeyView> {
  const { apiKeyId, name, userId, userName, hint, permissions } = key;
  return {
    apiKeyId,
    name,
    kind: userId === null ? 'organization' : 'user',
    user: userId === null ? null : { userId, name: userName ?? '' },
    hint,
    permissions: permissions === null ? null : [...permissions],
    createdBy: key.createdBy === null ? null : { userId: key.createdBy, name: key.createdByName ?? '' },
    isBySystem: key.isBySystem,
    createdAt: toTimestamp(key.createdAt),
    lastUsedAt: toTimestampOrNull(key.lastUsedAt),
    expiresAt: toTimestampOrNull(key.expiresAt),
  };
}

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
