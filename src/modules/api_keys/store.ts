import type { InferEntity } from '@mikro-orm/postgresql';

import { sql } from 'kysely';

import { asId, type Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  anyOf,
  columns,
  PostgresStore,
  prepared,
  type Row,
  rowsChanged,
  type Values,
} from '#storage/postgres/store.ts';
import { ApiKeyEntity } from '#storage/postgres/entities/credentials.ts';
import { hasSecondFactor } from '#modules/accounts/store/standing.ts';
import type { NewestPage } from '#storage/postgres/newest_page.ts';

export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;

const LIVE = ['id', 'hash', 'orgId', 'userId', 'name', 'permissions', 'lastUsedAt'] as const;
const LISTED = ['name', 'userId', 'hint', 'permissions', 'createdBy', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;

/** Fields of a key that authentication needs, read in one query so that no stale role can slip between two. */
export type LiveApiKey = Pick<Row<typeof ApiKeyEntity>, (typeof LIVE)[number]> & {
  /** The live role of the key's user; null for an organization's key, or when the user has left. */
  readonly role: Role | null;
  readonly secondFactorRequired: boolean;
  /** Networks from which keys act in the organization; null for everywhere. */
  readonly networks: readonly string[] | null;
  /** Whether the key's user has a second factor. */
  readonly hasSecondFactor: boolean;
  /** Whether the organization has stopped its agents; null where it has decided nothing about them. */
  readonly areStopped: boolean | null;
};

/** A key as lists show one: never its secret. */
export type ListedApiKey = Pick<Row<typeof ApiKeyEntity>, (typeof LISTED)[number]> & {
  readonly apiKeyId: Id<'apikey'>;
  readonly userName: string | null;
  readonly createdByName: string | null;
  /** Whether the key was made at the first start or by the command line, as long as the audit log says so. */
  readonly isBySystem: boolean;
};

export interface ApiKeyFilter {
  /** Person whose personal keys are listed; null for all keys of the organization. */
  readonly ofUser: Id<'user'> | null;
  /** Part of its name, of how it begins, or of the name of whom it acts as or who created it. */
  readonly text?: string | undefined;
  /** Creator of the listed keys of the organization. */
  readonly creatorId?: string | undefined;
}

const LIST_LIVE = prepared((db, { hashes, now }: Values<{ hashes: readonly Buffer[]; now: Temporal.Instant }>) =>
  db
    .selectFrom('api_keys as k')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'k.org_id').onRef('m.user_id', '=', 'k.user_id'),
    )
    .innerJoin('organizations as o', 'o.id', 'k.org_id')
    .leftJoin('agent_settings as s', 's.org_id', 'k.org_id')
    .select(columns(ApiKeyEntity, 'k', LIVE))
    .select(['m.role', 's.are_stopped as areStopped', 'o.second_factor_required as secondFactorRequired'])
    .select('o.key_networks as networks')
    .select(({ ref }) => hasSecondFactor(ref('k.user_id')).as('hasSecondFactor'))
    .where('k.hash', '=', anyOf(hashes))
    .where('k.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)])),
);

/** API keys, found by the hash of their secret. */
export class ApiKeyStore extends PostgresStore {
  async insert(
    key: Omit<ApiKeyRow, 'revokedAt' | 'lastUsedAt' | 'isProvisioning'> & Partial<ApiKeyRow>,
  ): Promise<void> {
    const { em } = this.session;
    em.persist(em.create(ApiKeyEntity, { isProvisioning: false, ...key, revokedAt: null, lastUsedAt: null }));
    await em.flush();
  }

  /** The keys with their users' roles as of now, but for those that are unknown, revoked or expired. */
  async listLive(hashes: readonly Buffer[], now: Temporal.Instant): Promise<LiveApiKey[]> {
    return await LIST_LIVE.rows(this.session, { hashes, now });
  }

  async touch(id: Id<'apikey'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute();
  }

  /** True when the key existed and was not revoked before. */
  async revoke(id: string, now: Temporal.Instant): Promise<boolean> {
    return rowsChanged(await this.#revoking(now).where('id', '=', asId('apikey', id)).execute()) > 0;
  }

  /** Lists keys that were not revoked, newest first. */
  async list(orgId: Id<'org'>, filter: ApiKeyFilter, { after, limit }: NewestPage<'apikey'>): Promise<ListedApiKey[]> {
    let query = this.#matching(orgId, filter);
    if (after !== null) {
      query = query.where((eb) => eb(eb.refTuple('k.created_at', 'k.id'), '<', eb.tuple(after.at, after.id)));
    }
    return await query.orderBy('k.created_at', 'desc').orderBy('k.id', 'desc').limit(limit).execute();
  }

  async count(orgId: Id<'org'>, filter: ApiKeyFilter): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(orgId: Id<'org'>, id: string): Promise<ListedApiKey | null> {
    return (await this.#listed(orgId).where('k.id', '=', asId('apikey', id)).executeTakeFirst()) ?? null;
  }

  /** Returns the organization of the key; null when the key is unknown or revoked. */
  async findOrganization(id: string): Promise<Id<'org'> | null> {
    const key = await this.selectFrom('api_keys')
      .select('org_id')
      .where('id', '=', asId('apikey', id))
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    return key?.org_id ?? null;
  }

  /** The keys of somebody who leaves: they would come to life again if the person came back. */
  async revokeAllOf(orgId: Id<'org'>, userId: Id<'user'>, now: Temporal.Instant): Promise<Id<'apikey'>[]> {
    const revoked = await this.#revoking(now)
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .returning('id')
      .execute();
    return revoked.map(({ id }) => id);
  }

  /** Revokes the keys of one person in every organization, when a password was given away. */
  async revokeEveryOf(
    userId: Id<'user'>,
    now: Temporal.Instant,
  ): Promise<{ apiKeyId: Id<'apikey'>; orgId: Id<'org'>; name: string }[]> {
    return await this.#revoking(now)
      .where('user_id', '=', userId)
      .returning(['id as apiKeyId', 'org_id as orgId', 'name'])
      .execute();
  }

  async countOf(userId: Id<'user'>): Promise<number> {
    const { count } = await this.selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('user_id', '=', userId)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    return count;
  }

  #matching(orgId: Id<'org'>, { ofUser, text, creatorId }: ApiKeyFilter) {
    let query = this.#listed(orgId);
    if (ofUser !== null) query = query.where('k.user_id', '=', ofUser);
    if (creatorId !== undefined) {
      query = query.where('k.created_by', '=', asId('user', creatorId)).where('k.user_id', 'is', null);
    }
    if (text !== undefined) {
      query = query.where(
        ({ ref }) =>
          sql<boolean>`strpos(lower(concat_ws(' ', ${ref('k.name')}, ${ref('k.hint')}, ${ref('u.name')}, ${ref('c.name')})), lower(${text})) > 0`,
      );
    }
    return query;
  }

  #listed(orgId: Id<'org'>) {
    return this.selectFrom('api_keys as k')
      .leftJoin('users as u', 'u.id', 'k.user_id')
      .leftJoin('users as c', 'c.id', 'k.created_by')
      .select(columns(ApiKeyEntity, 'k', LISTED))
      .select(['k.id as apiKeyId', 'u.name as userName', 'c.name as createdByName'])
      .select((eb) =>
        eb
          .and([
            eb('k.created_by', 'is', null),
            eb.exists(
              eb
                .selectFrom('audit_log as a')
                .select('a.id')
                .whereRef('a.org_id', '=', 'k.org_id')
                .whereRef('a.at', '=', 'k.created_at')
                .whereRef('a.target', '=', 'k.id')
                .where(({ eb: of, ref }) => of(sql<string>`${ref('a.actor')}->>'kind'`, '=', 'system')),
            ),
          ])
          .$castTo<boolean>()
          .as('isBySystem'),
      )
      .where('k.org_id', '=', orgId)
      .where('k.revoked_at', 'is', null)
      .where('k.is_provisioning', '=', false);
  }

  #revoking(now: Temporal.Instant) {
    return this.updateTable('api_keys').set({ revoked_at: now }).where('revoked_at', 'is', null);
  }
}
