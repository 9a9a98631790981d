import type { Actor, CallerVia } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, newId, SECRET_PREFIXES } from '#kernel/ids.ts';
import { type Permission, PERMISSIONS, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { LiveApiKey } from '#modules/api_keys/store.ts';
import { type Stores, storesOf } from '#modules/stores.ts';
import type { Database } from '#storage/postgres/database.ts';
import { KeyReads } from './key_cache.ts';
import { refusalError, refusalOf } from './may_act.ts';
import { hashSecret, isSecretText, newSecretText } from './secret_text.ts';

const PRECISION_MS = 60_000;

export const API_KEY_PREFIX = SECRET_PREFIXES.apiKey;

interface NewApiKey {
  readonly orgId: Id<'org'>;
  /** Owner; null for a key of the organization. */
  readonly userId: Id<'user'> | null;
  readonly name: string;
  /** Permissions; null for everything the role allows, or everything for a key of the organization. */
  readonly permissions: readonly Permission[] | null;
  readonly expiresAt?: Temporal.Instant;
  /** Person who created it; nobody if the command line did. */
  readonly createdBy?: Id<'user'> | null;
}

/** Creates a key. The secret is returned here and never again. */
export async function issueApiKey(
  stores: Stores,
  key: NewApiKey,
  now: Temporal.Instant,
): Promise<{ keyId: Id<'apikey'>; key: string }> {
  const secret = newSecretText(API_KEY_PREFIX);
  const keyId = newId('apikey');
  await stores.apiKeys.insert({
    id: keyId,
    orgId: key.orgId,
    userId: key.userId,
    name: key.name,
    hash: hashSecret(secret),
    hint: `${secret.slice(0, API_KEY_PREFIX.length + 5)}…`,
    permissions: key.permissions === null ? null : [...key.permissions],
    createdBy: key.createdBy ?? null,
    createdAt: now,
    expiresAt: key.expiresAt ?? null,
  });
  return { keyId, key: secret };
}

/** Live API keys, and the database in which their use is recorded. */
export interface ApiKeyAccess {
  readonly apiKeys: KeyReads<LiveApiKey>;
  readonly db: Database;
}

export function openApiKeys(db: Database, clock: Clock): KeyReads<LiveApiKey> {
  return new KeyReads((hashes) => storesOf(db.session()).apiKeys.listLive(hashes, clock.now()));
}

/**
 * The caller behind an `Authorization` header, with the current permissions: the key, its user's role
 * and its narrowing are read anew each time. Throws `unauthenticated`, `second_factor_required` while the key's user
 * lacks the second factor that the organization requires, and `forbidden` for an address that it does not admit.
 */
export async function authenticateApiKey<Way extends string>(
  { apiKeys, db }: ApiKeyAccess,
  { authorization, address }: { readonly authorization: string | undefined; readonly address: string },
  via: Way,
  now: Temporal.Instant,
): Promise<CallerVia<Way>> {
  const secret = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (secret === undefined) {
    throw new AppError('unauthenticated', 'send an API key in the header: Authorization: Bearer <API_KEY>');
  }
  const key = isSecretText(API_KEY_PREFIX, secret) ? await apiKeys.find(hashSecret(secret)) : null;
  if (key === null || (key.userId !== null && key.role === null)) {
    throw new AppError('unauthenticated', 'this API key is unknown, revoked or expired');
  }
  // A key of the organization is nobody's; only the list of addresses applies to it.
  const standing = { ...key, role: key.role ?? 'viewer', providerRule: null };
  const refusal = refusalOf(standing, { kind: 'credential', address });
  if (refusal !== null) throw refusalError(refusal);
  if (isUseWorthRecording(key.lastUsedAt, now)) await storesOf(db.session()).apiKeys.touch(key.id, now);
  return {
    orgId: key.orgId,
    actor: actorOf(key),
    via,
    mustStepUp: false,
    permissions: permissionsOf(key),
    ...(key.areStopped === true && { areAgentsStopped: true }),
  };
}

function actorOf(key: LiveApiKey): Actor {
  return key.userId === null
    ? { kind: 'api_key', apiKeyId: key.id, apiKeyName: key.name }
    : { kind: 'user', userId: key.userId, apiKeyId: key.id, apiKeyName: key.name };
}

/** The role's permissions (all, for an organization's key), cut down to the key's own list if it has one. */
function permissionsOf(key: LiveApiKey): Set<Permission> {
  const ceiling = key.role === null ? PERMISSIONS : ROLE_PERMISSIONS[key.role];
  const granted = key.permissions;
  return new Set(granted === null ? ceiling : ceiling.filter((permission) => granted.includes(permission)));
}

/** Whether it is time to note again that a credential is used: to the minute, not at each request. */
export function isUseWorthRecording(lastUsedAt: Temporal.Instant | null, now: Temporal.Instant): boolean {
  return lastUsedAt === null || now.epochMilliseconds - lastUsedAt.epochMilliseconds > PRECISION_MS;
}

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
