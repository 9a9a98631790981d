import { isUseWorthRecording } from '#auth/api_keys.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, newId, SECRET_PREFIXES } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';

const PREFIX = SECRET_PREFIXES.provisioning;
const NAME = 'SCIM provisioning';

/** Identity provider of an organization, known by its token. */
export interface Provisioner {
  readonly orgId: Id<'org'>;
  readonly apiKeyId: Id<'apikey'>;
  readonly name: string;
}

/** Makes the token of an organization in place of the one before. The secret is returned here and never again. */
export async function issueProvisioningToken(
  stores: Pick<Stores, 'apiKeys' | 'provisioning'>,
  orgId: Id<'org'>,
  createdBy: Id<'user'>,
  now: Temporal.Instant,
): Promise<{ tokenId: Id<'apikey'>; token: string }> {
  await stores.provisioning.revokeToken(orgId, now);
  const token = newSecretText(PREFIX);
  const tokenId = newId('apikey');
  await stores.apiKeys.insert({
    id: tokenId,
    orgId,
    userId: null,
    name: NAME,
    hash: hashSecret(token),
    hint: `${token.slice(0, PREFIX.length + 5)}…`,
    // It opens no action: `authenticateApiKey` knows it by its prefix.
    permissions: [],
    createdBy,
    createdAt: now,
    expiresAt: null,
    isProvisioning: true,
  });
  return { tokenId, token };
}

/** Returns the identity provider behind an `Authorization` header. Throws `unauthenticated`. */
export async function authenticateProvisioner(
  { apiKeys }: Pick<Stores, 'apiKeys'>,
  authorization: string | undefined,
  now: Temporal.Instant,
): Promise<Provisioner> {
  const secret = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (secret === undefined) {
    throw new AppError('unauthenticated', 'send the provisioning token in the header: Authorization: Bearer <TOKEN>');
  }
  const [key] = isSecretText(PREFIX, secret) ? await apiKeys.listLive([hashSecret(secret)], now) : [];
  if (key === undefined) throw new AppError('unauthenticated', 'this provisioning token is unknown or was revoked');
  if (isUseWorthRecording(key.lastUsedAt, now)) await apiKeys.touch(key.id, now);
  return { orgId: key.orgId, apiKeyId: key.id, name: key.name };
}
