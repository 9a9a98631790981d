import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';

import type { Id } from '#kernel/ids.ts';
import type { Permission, Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { instant } from '#storage/postgres/instant_type.ts';

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.text().primary().$type<Id<'apikey'>>(),
    orgId: p.text().$type<Id<'org'>>(),
    userId: p.text().$type<Id<'user'>>().strictNullable(),
    name: p.text(),
    hash: p.type(Buffer).columnType('bytea').hidden(),
    hint: p.text(),
    permissions: p.array().$type<Permission[]>().strictNullable(),
    /** null: made by the command line, or by somebody who is gone. */
    createdBy: p.text().$type<Id<'user'>>().strictNullable(),
    createdAt: instant(),
    expiresAt: instant().strictNullable(),
    revokedAt: instant().strictNullable(),
    lastUsedAt: instant().strictNullable(),
  },
});

export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;

/** What authentication needs of a key, read in one query so that no stale role can slip between two. */
export interface LiveApiKey {
  readonly id: Id<'apikey'>;
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'> | null;
  readonly name: string;
  /** null: as many as the role, or the organization, has. */
  readonly permissions: readonly Permission[] | null;
  /** The live role of the key's user; null for an organization's key, or when the user has left. */
  readonly role: Role | null;
  readonly lastUsedAt: Temporal.Instant | null;
}

/** A key as lists show one: never its secret. */
export interface ListedApiKey {
  readonly apiKeyId: Id<'apikey'>;
  readonly name: string;
  readonly userId: Id<'user'> | null;
  readonly userName: string | null;
  readonly hint: string;
  readonly permissions: readonly Permission[] | null;
  /** null: the command line, or somebody who is gone. */
  readonly createdBy: Id<'user'> | null;
  readonly createdByName: string | null;
  readonly createdAt: Temporal.Instant;
  readonly lastUsedAt: Temporal.Instant | null;
  readonly expiresAt: Temporal.Instant | null;
}

const LISTED = `k.id as "apiKeyId", k.name, k.user_id as "userId", u.name as "userName", k.hint, k.permissions,
    k.created_by as "createdBy", c.name as "createdByName", k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt"
  from api_keys k left join users u on u.id = k.user_id left join users c on c.id = k.created_by`;

/** API keys, found by the hash of their secret. */
export class ApiKeyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(key: Omit<ApiKeyRow, 'revokedAt' | 'lastUsedAt'>): Promise<void> {
    const { em } = this.#session;
    em.persist(em.create(ApiKeyEntity, { ...key, revokedAt: null, lastUsedAt: null }));
    await em.flush();
  }

  /** The key with its user's role as of now; null when unknown, revoked or expired. */
  async findLive(hash: Buffer, now: Temporal.Instant): Promise<LiveApiKey | null> {
    return await this.#session.sql.row<LiveApiKey>(
      `select k.id, k.org_id as "orgId", k.user_id as "userId", k.name, k.permissions, m.role, k.last_used_at as "lastUsedAt"
       from api_keys k left join memberships m on m.org_id = k.org_id and m.user_id = k.user_id
       where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)`,
      [hash, now.toString()],
    );
  }

  async touch(id: Id<'apikey'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update api_keys set last_used_at = $2 where id = $1', [id, now.toString()]);
  }

  /** True when the key existed and was not revoked before. */
  async revoke(id: string, now: Temporal.Instant): Promise<boolean> {
    const changed = await this.#session.sql.run(
      'update api_keys set revoked_at = $2 where id = $1 and revoked_at is null',
      [id, now.toString()],
    );
    return changed > 0;
  }

  /** Those that were not revoked, newest first; of one user only, or all of the organization. */
  async list(orgId: Id<'org'>, ofUser: Id<'user'> | null, limit: number): Promise<ListedApiKey[]> {
    return await this.#session.sql.rows(
      `select ${LISTED} where k.org_id = $1 and k.revoked_at is null and ($2::text is null or k.user_id = $2)
       order by k.created_at desc, k.id desc limit $3`,
      [orgId, ofUser, limit],
    );
  }

  async find(orgId: Id<'org'>, id: string): Promise<ListedApiKey | null> {
    return await this.#session.sql.row(`select ${LISTED} where k.org_id = $1 and k.id = $2 and k.revoked_at is null`, [
      orgId,
      id,
    ]);
  }

  /** Which organization the key belongs to; null when it is unknown or revoked. */
  async findOrganization(id: string): Promise<Id<'org'> | null> {
    const row = await this.#session.sql.row<{ orgId: Id<'org'> }>(
      'select org_id as "orgId" from api_keys where id = $1 and revoked_at is null',
      [id],
    );
    return row?.orgId ?? null;
  }

  /** The keys of somebody who leaves: they would come to life again if the person came back. */
  async revokeAllOf(orgId: Id<'org'>, userId: Id<'user'>, now: Temporal.Instant): Promise<Id<'apikey'>[]> {
    const revoked = await this.#session.sql.rows<{ id: Id<'apikey'> }>(
      'update api_keys set revoked_at = $3 where org_id = $1 and user_id = $2 and revoked_at is null returning id',
      [orgId, userId, now.toString()],
    );
    return revoked.map(({ id }) => id);
  }

  /** Those of one person in every organization, when a password was given away. */
  async revokeEveryOf(
    userId: Id<'user'>,
    now: Temporal.Instant,
  ): Promise<{ apiKeyId: Id<'apikey'>; orgId: Id<'org'>; name: string }[]> {
    return await this.#session.sql.rows(
      `update api_keys set revoked_at = $2 where user_id = $1 and revoked_at is null
       returning id as "apiKeyId", org_id as "orgId", name`,
      [userId, now.toString()],
    );
  }

  async countOf(userId: Id<'user'>): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      'select count(*)::int as count from api_keys where user_id = $1 and revoked_at is null',
      [userId],
    );
    return row?.count ?? 0;
  }
}
