import { createHmac, hkdfSync } from 'node:crypto';

import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider';

import { disconnect, revokedByClient, revokedBySystem } from '#auth/oauth/connections.ts';
import { ALL_SCOPES, OFFLINE_SCOPE, SCOPES } from './metadata.ts';
import { hashSecret, secretTextOf } from '#auth/secret_text.ts';
import { isUnavailable } from '#kernel/errors.ts';
import { type Id, SECRET_PREFIXES } from '#kernel/ids.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import { type ConnectionRow, ConnectionStore } from '#modules/apps/store/connection_store.ts';
import type { Database } from '#storage/postgres/database.ts';
import { OAuthRecordStore } from '#modules/apps/store/oauth_record_store.ts';

/**
 * Derives the refresh token that replaces another from that one and a key that only we have, so that a connection never has
 * two valid refresh tokens.
 */
export function nextRefreshTokens(appSecret: string): (token: string) => string {
  const key = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'refresh-tokens', 32));
  return (token) => secretTextOf(SECRET_PREFIXES.refreshToken, createHmac('sha256', key).update(token).digest());
}

interface AdapterRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly appSecret: string;
  /** Spellings of the one resource that tokens are for. */
  readonly resources: readonly string[];
}

/**
 * Time for which a used code or token may come again, from a client that retries or has two processes: a refresh token
 * is accepted again, a code only refused. Later it ends the connection, since somebody has what is not theirs.
 */
const GRACE_MS = 10_000;
/**
 * Time within which another window of a client may present the refresh token that has just been replaced: it is
 * refused, and the connection goes on, as long as the token that replaced it has not been used either.
 */
const REPLACED_MS = 10 * 60_000;
/** A client without connections is deleted after this long, and one with connections once the last of them is this old. */
const UNUSED_CLIENT_KEPT = Temporal.Duration.from({ hours: 7 * 24 });
const USED_CLIENT_KEPT = Temporal.Duration.from({ hours: 90 * 24 });

const OF_A_CONNECTION = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

/**
 * Returns the adapter by which the authorization server stores its records in our own tables: tokens, codes and ids as
 * hashes, and whatever belongs to a connection in such a way that it cannot outlive it.
 */
export function recordAdapterOf(runtime: AdapterRuntime): (model: string) => Adapter {
  return (model) => {
    if (model === 'Grant') return new GrantAdapter(runtime);
    return model === 'Session' ? NO_SESSIONS : new RecordAdapter(model, runtime);
  };
}

class RecordAdapter implements Adapter {
  readonly #model: string;
  readonly #runtime: AdapterRuntime;
  readonly #nextOf: (token: string) => string;

  constructor(model: string, runtime: AdapterRuntime) {
    this.#model = model;
    this.#runtime = runtime;
    this.#nextOf = nextRefreshTokens(runtime.appSecret);
  }

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { jti: _isTheSecret, ...kept } = payload;
    const now = this.#now();
    const connectionId = OF_A_CONNECTION.has(this.#model)
      ? ((payload.grantId ?? null) as Id<'connection'> | null)
      : null;
    const record = {
      kind: this.#model,
      hash: hashSecret(id),
      payload:
        kept.client_secret === undefined ? kept : { ...kept, client_secret: hashOfClientSecret(kept.client_secret) },
      connectionId,
      expiresAt: expiresIn === undefined ? now.add(UNUSED_CLIENT_KEPT) : now.add({ seconds: expiresIn }),
    };
    await answered(() => this.#records().put(record));
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const now = this.#now();
    const record = await answered(() => this.#records().find(this.#model, hashSecret(id), now));
    if (record === null) return undefined;
    const payload: AdapterPayload = { ...record.payload };
    if (this.#model !== 'Client') payload.jti = id;
    if (record.consumedAt === null || this.#isWithinGrace(record.consumedAt, now)) return payload;
    if (await this.#isJustReplaced(id, record.consumedAt, now)) return undefined;
    return { ...payload, consumed: Math.floor(record.consumedAt.epochMilliseconds / 1000) };
  }

  /** Marks a record as used; of those who redeem one code at the same time, exactly one succeeds. */
  async consume(id: string): Promise<void> {
    const isFirst = await answered(() => this.#records().consume(this.#model, hashSecret(id), this.#now()));
    if (!isFirst && this.#model !== 'RefreshToken') throw new errors.InvalidGrant('it was used already');
  }

  async destroy(id: string): Promise<void> {
    await answered(() => this.#records().remove(this.#model, hashSecret(id)));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    await answered(() => this.#records().removeOfConnection(this.#model, grantId));
  }

  async findByUid(): Promise<undefined> {}

  async findByUserCode(): Promise<undefined> {}

  #isWithinGrace(consumedAt: Temporal.Instant, now: Temporal.Instant): boolean {
    const hasGrace = this.#model === 'RefreshToken' || this.#model === 'AuthorizationCode';
    return hasGrace && now.epochMilliseconds - consumedAt.epochMilliseconds <= GRACE_MS;
  }

  async #isJustReplaced(token: string, consumedAt: Temporal.Instant, now: Temporal.Instant): Promise<boolean> {
    const isRecent = now.epochMilliseconds - consumedAt.epochMilliseconds <= REPLACED_MS;
    if (this.#model !== 'RefreshToken' || !isRecent) return false;
    const next = await answered(() => this.#records().find(this.#model, hashSecret(this.#nextOf(token)), now));
    return next !== null && next.consumedAt === null;
  }

  #records(): OAuthRecordStore {
    return new OAuthRecordStore(this.#runtime.db.session());
  }

  #now(): Temporal.Instant {
    return this.#runtime.clock.now();
  }
}

/** The grant of a connection is the connection itself: what it may do is read from there each time. */
class GrantAdapter implements Adapter {
  readonly #runtime: AdapterRuntime;

  constructor(runtime: AdapterRuntime) {
    this.#runtime = runtime;
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const connection = await answered(() => new ConnectionStore(this.#runtime.db.session()).find(id));
    return connection === null ? undefined : toGrant(connection, this.#runtime.resources);
  }

  /** The client gave its tokens back, or somebody brought one that was used long ago. */
  async destroy(id: string): Promise<void> {
    const isByClient = Provider.ctx?.oidc.route === 'revocation';
    const revocationOf = isByClient
      ? revokedByClient
      : revokedBySystem('a code or refresh token came again after it was used');
    await answered(() => disconnect(this.#runtime, id, revocationOf));
  }

  async upsert(): Promise<void> {
    throw new Error('a grant is made by connecting an app');
  }

  async consume(): Promise<void> {}

  async revokeByGrantId(): Promise<void> {}

  async findByUid(): Promise<undefined> {}

  async findByUserCode(): Promise<undefined> {}
}

/**
 * Returns the grant of a connection. Scopes that are not granted are refused for good, so that nobody is asked about
 * them again.
 */
function toGrant(connection: ConnectionRow, resources: readonly string[]): AdapterPayload {
  const { connectionId, userId, clientId, access } = connection;
  const granted = access === 'changes' ? ALL_SCOPES : SCOPES[0];
  const ofEach = (scope: string) => Object.fromEntries(resources.map((resource) => [resource, scope]));
  return {
    jti: connectionId,
    kind: 'Grant',
    accountId: userId,
    clientId,
    openid: { scope: `${granted} ${OFFLINE_SCOPE}` },
    resources: ofEach(granted),
    ...(access === 'changes' ? {} : { rejected: { openid: { scope: SCOPES[1] }, resources: ofEach(SCOPES[1]) } }),
  };
}

/** The console alone knows who is signed in: the server has no sessions of its own that could say otherwise. */
const NO_SESSIONS: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

/**
 * Returns the stored hash of a client's secret, which is also compared; it has full entropy, like every secret of ours.
 */
export function hashOfClientSecret(secret: string): string {
  return hashSecret(secret).toString('base64url');
}

/** Keeps a registered client that has just been used. */
export async function saveClient(db: Database, clientId: string, now: Temporal.Instant): Promise<void> {
  await new OAuthRecordStore(db.session()).keepUntil('Client', hashSecret(clientId), now.add(USED_CLIENT_KEPT));
}

const FOREIGN_KEY_VIOLATION = '23503';

/** Reports in the terms of OAuth that the database is unavailable, or that a connection has just ended. */
async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: unknown }).code === FOREIGN_KEY_VIOLATION) throw new errors.InvalidGrant('disconnected');
    if (!isUnavailable(error)) throw error;
    const unavailable = new errors.CustomOIDCProviderError('temporarily_unavailable', error.message);
    throw Object.assign(unavailable, { status: error.status, statusCode: error.status, cause: error });
  }
}
