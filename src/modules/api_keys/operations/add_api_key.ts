import { type Static, Type } from 'typebox';

import { type Change, recordChange } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { issueApiKey } from '#auth/api_keys.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Permission, PERMISSIONS } from '#kernel/permissions.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ListedApiKey } from '#modules/api_keys/store.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
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
export async function makeApiKey(
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

export const PermissionName = Type.Enum([...PERMISSIONS]);
export const KeyKind = Type.Enum(['user', 'organization']);

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

export const ApiKeyView = Type.Object(KEY_FIELDS);

export const NewApiKeyView = Type.Object({ ...KEY_FIELDS, secret: Type.String({ description: 'shown this once' }) });

export function auditedApiKey({ name, kind, user, permissions, expiresAt }: Static<typeof ApiKeyView>): object {
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
