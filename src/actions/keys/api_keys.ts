import { type Static, Type } from 'typebox';

import { LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText, Name, nullable, Timestamp } from '#actions/fields.ts';
import type { Operator } from '#actions/operator.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { issueApiKey } from '#auth/api_keys.ts';
import { isManager, type MemberCaller } from '#auth/sessions.ts';
import { parseInstant } from '#core/oncall/parse_instant.ts';
import { orThrow } from '#core/oncall/parsed.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Permission, PERMISSIONS } from '#kernel/permissions.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ListedApiKey } from '#storage/postgres/api_key_store.ts';
import type { AuditedBy } from '#storage/postgres/audit_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

const PermissionName = Type.Enum([...PERMISSIONS]);
const KindName = Type.Enum(['user', 'organization']);

const KEY_FIELDS = {
  apiKeyId: IdText,
  name: Type.String(),
  kind: KindName,
  user: nullable(Type.Object({ userId: IdText, name: Type.String() })),
  hint: Type.String({ description: 'how the key begins' }),
  permissions: nullable(Type.Array(PermissionName, { description: 'null: all that the role has, or all there are' })),
  createdBy: nullable(
    Type.Object(
      { userId: IdText, name: Type.String() },
      { description: 'null: the command line, or somebody who is gone' },
    ),
  ),
  createdAt: Timestamp,
  lastUsedAt: nullable(Timestamp),
  expiresAt: nullable(Timestamp),
};

export const ApiKeyView = Type.Object(KEY_FIELDS);

export const NewApiKeyView = Type.Object({ ...KEY_FIELDS, secret: Type.String({ description: 'shown this once' }) });

export const ApiKeyInput = Type.Object(
  {
    name: Name,
    kind: KindName,
    permissions: nullable(Type.Array(PermissionName, { maxItems: PERMISSIONS.length })),
    expiresAt: nullable(Type.String({ description: 'RFC 3339, in the future' })),
  },
  CLOSED,
);

/** One's own; for owners and admins all of the organization. Newest first. */
export async function listApiKeys(
  stores: Stores,
  caller: MemberCaller,
): Promise<{ apiKeys: Static<typeof ApiKeyView>[] }> {
  return await listApiKeysOf(stores, caller.orgId, isManager(caller) ? null : caller.actor.userId);
}

/** Of one user, or all of the organization. Newest first. */
export async function listApiKeysOf(
  stores: Stores,
  orgId: Id<'org'>,
  userId: Id<'user'> | null,
): Promise<{ apiKeys: Static<typeof ApiKeyView>[] }> {
  return { apiKeys: (await stores.apiKeys.list(orgId, userId, LIST_LIMIT)).map(toView) };
}

/**
 * Creates a key of one's own, at most with one's own permissions, or one of the organization, which only owners and
 * admins may (`forbidden`). The secret is returned here and never again.
 */
export async function createApiKey(
  unit: UnitOfWork,
  caller: MemberCaller,
  { name, kind, permissions, expiresAt }: Static<typeof ApiKeyInput>,
  origin: RequestOrigin,
): Promise<Static<typeof NewApiKeyView>> {
  const { orgId, actor, via } = caller;
  if (kind === 'organization' && !isManager(caller)) {
    throw new AppError('forbidden', `keys of the organization are for owners and admins; you are ${caller.role}`);
  }
  const lacking = (permissions ?? []).filter((permission) => !caller.permissions.has(permission));
  if (lacking.length > 0) {
    throw new AppError('forbidden', `a key cannot have a permission that you lack: ${lacking.join(', ')}`);
  }
  const expiry = expiresAt === null ? null : requireFuture(expiresAt, unit.now);
  const userId = kind === 'user' ? actor.userId : null;
  return await addApiKey(unit, { orgId, userId, name, permissions, expiresAt: expiry }, { actor, via, origin });
}

interface WantedKey {
  readonly orgId: Id<'org'>;
  /** null for a key of the organization. */
  readonly userId: Id<'user'> | null;
  readonly name: string;
  /** null for all that the role allows, or all there are. */
  readonly permissions: readonly Permission[] | null;
  /** null: it works until it is revoked. */
  readonly expiresAt: Temporal.Instant | null;
}

/** Creates a key that may do something. The secret is returned here and never again. */
export async function addApiKey(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  { orgId, userId, name, permissions, expiresAt }: WantedKey,
  by: AuditedBy,
): Promise<Static<typeof NewApiKeyView>> {
  if (permissions?.length === 0) {
    throw invalidInput([{ path: 'permissions', message: 'must name at least one; a key without any may do nothing' }]);
  }
  const createdBy = by.actor.kind === 'user' ? by.actor.userId : null;
  const wanted = { orgId, userId, name, createdBy, permissions: permissions && [...new Set(permissions)] };
  const { keyId, key } = await issueApiKey(stores, { ...wanted, ...(expiresAt && { expiresAt }) }, now);
  const made = await stores.apiKeys.find(orgId, keyId);
  if (made === null) throw new Error('a key that was just made is there');
  const view = toView(made);
  const change = { action: 'create_api_key', target: keyId, before: null, after: recordOf(view) };
  await stores.audit.append({ orgId, ...by, ...change, result: 'done' }, now);
  return { ...view, secret: key };
}

/** The key is refused from the next request on. Throws `not_found`, also for one that is neither theirs nor theirs to see. */
export async function revokeApiKey(
  { stores, now }: UnitOfWork,
  caller: MemberCaller | Operator,
  apiKeyId: string,
  origin: RequestOrigin,
): Promise<{ deleted: true; apiKeyId: string }> {
  const { orgId, actor, via } = caller;
  const found = await stores.apiKeys.find(orgId, apiKeyId);
  const isOwn = actor.kind === 'user' && found?.userId === actor.userId;
  const isTheirs = found !== null && (isOwn || isManager(caller));
  if (!isTheirs || !(await stores.apiKeys.revoke(apiKeyId, now))) {
    throw new AppError('not_found', 'there is no such key, or it is not yours');
  }
  const change = { action: 'revoke_api_key', target: apiKeyId, before: recordOf(toView(found)), after: null };
  await stores.audit.append({ orgId, actor, via, ...change, result: 'done', origin }, now);
  return { deleted: true, apiKeyId };
}

function requireFuture(text: string, now: Temporal.Instant): Temporal.Instant {
  const at = orThrow(parseInstant(text, 'UTC', 'expiresAt'));
  if (isAtOrBefore(at, now)) throw invalidInput([{ path: 'expiresAt', message: 'must be in the future' }]);
  return at;
}

function recordOf({ name, kind, user, permissions, expiresAt }: Static<typeof ApiKeyView>): object {
  return { name, kind, userId: user?.userId ?? null, permissions, expiresAt };
}

function toView(key: ListedApiKey): Static<typeof ApiKeyView> {
  const { apiKeyId, name, userId, userName, hint, permissions } = key;
  return {
    apiKeyId,
    name,
    kind: userId === null ? 'organization' : 'user',
    user: userId === null ? null : { userId, name: userName ?? '' },
    hint,
    permissions: permissions === null ? null : [...permissions],
    createdBy: key.createdBy === null ? null : { userId: key.createdBy, name: key.createdByName ?? '' },
    createdAt: toTimestamp(key.createdAt),
    lastUsedAt: toTimestampOrNull(key.lastUsedAt),
    expiresAt: toTimestampOrNull(key.expiresAt),
  };
}
