import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { PERMISSIONS } from '#kernel/permissions.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { ListedApiKey } from '#modules/api_keys/store.ts';

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

/** Returns the fields of a key for the audit log. */
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
