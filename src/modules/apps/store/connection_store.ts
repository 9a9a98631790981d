import { sql } from 'kysely';

import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, field, PostgresStore, prepared, type Row, toColumns, type Values } from '#storage/postgres/store.ts';
import { ConnectionEntity } from '#storage/postgres/entities/credentials.ts';
import type { NewestPage } from '#storage/postgres/newest_page.ts';
import { hasSecondFactor, providerRuleOf, type Standing } from '#modules/accounts/store/standing.ts';

const COLUMNS = [
  'orgId',
  'userId',
  'clientId',
  'clientName',
  'clientUri',
  'access',
  'createdAt',
  'lastUsedAt',
] as const;

/** One approval of one app by one person for one organization. */
export type ConnectionRow = Pick<Row<typeof ConnectionEntity>, (typeof COLUMNS)[number]> & {
  readonly connectionId: Id<'connection'>;
};

/** A connection as an access token of it opens it, with the role of this very moment. */
export type LiveConnection = ConnectionRow &
  Standing & {
    /** Scope of the token, at most the access of the connection. */
    readonly scope: string;
    /** Whether the organization has stopped its agents; null where it has decided nothing about them. */
    readonly areStopped: boolean | null;
  };

export interface ConnectionFilter {
  /** Person whose connections are listed; null for everybody's. */
  readonly ofUser: Id<'user'> | null;
  /** Part of the name of the app or of the person. */
  readonly text?: string | undefined;
}

const SELECTED = [...columns(ConnectionEntity, 'c', COLUMNS), 'c.id as connectionId'] as const;

interface ByToken {
  readonly tokenHash: Buffer;
  readonly resource: string;
  readonly now: Temporal.Instant;
}

const FIND_BY_TOKEN = prepared((db, { tokenHash, resource, now }: Values<ByToken>) =>
  db
    .selectFrom('oauth_records as r')
    .innerJoin('connections as c', 'c.id', 'r.connection_id')
    .innerJoin('memberships as m', (join) =>
      join.onRef('m.org_id', '=', 'c.org_id').onRef('m.user_id', '=', 'c.user_id'),
    )
    .innerJoin('organizations as o', 'o.id', 'c.org_id')
    .leftJoin('agent_settings as s', 's.org_id', 'c.org_id')
    .select(SELECTED)
    .select(['m.role', 's.are_stopped as areStopped', 'o.second_factor_required as secondFactorRequired'])
    .select('o.key_networks as networks')
    .select(({ ref }) => providerRuleOf(ref('o.id')).as('providerRule'))
    .select(({ ref }) => hasSecondFactor(ref('c.user_id')).as('hasSecondFactor'))
    .select((eb) => eb.fn.coalesce(field(eb.ref('r.payload'), 'scope'), sql.lit('')).as('scope'))
    .where('r.kind', '=', 'AccessToken')
    .where('r.hash', '=', tokenHash)
    .where('r.expires_at', '>', now)
    .where((eb) => eb(field(eb.ref('r.payload'), 'aud'), '=', resource)),
);

/** Connected apps. One that was disconnected is a row that is gone, and its tokens with it. */
export class ConnectionStore extends PostgresStore {
  async insert({ connectionId: id, ...connection }: ConnectionRow): Promise<void> {
    await this.insertInto('connections')
      .values(toColumns(ConnectionEntity, { id, ...connection }))
      .execute();
  }

  async find(connectionId: string): Promise<ConnectionRow | null> {
    const connection = await this.selectFrom('connections as c')
      .select(SELECTED)
      .where('c.id', '=', asId('connection', connectionId))
      .executeTakeFirst();
    return connection ?? null;
  }

  /** The connection behind an access token for the resource, and its user's role, in one query; null when there is none. */
  async findByToken(tokenHash: Buffer, resource: string, now: Temporal.Instant): Promise<LiveConnection | null> {
    return await FIND_BY_TOKEN.row(this.session, { tokenHash, resource, now });
  }

  async touch(connectionId: Id<'connection'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('connections').set({ last_used_at: now }).where('id', '=', connectionId).execute();
  }

  /** Newest first, with the name of the user. */
  async list(
    orgId: Id<'org'>,
    filter: ConnectionFilter,
    { after, limit }: NewestPage<'connection'>,
  ): Promise<(ConnectionRow & { readonly userName: string })[]> {
    let query = this.#matching(orgId, filter).select(SELECTED).select('u.name as userName');
    if (after !== null) {
      query = query.where((eb) => eb(eb.refTuple('c.created_at', 'c.id'), '<', eb.tuple(after.at, after.id)));
    }
    return await query.orderBy('c.created_at', 'desc').orderBy('c.id', 'desc').limit(limit).execute();
  }

  async count(orgId: Id<'org'>, filter: ConnectionFilter): Promise<number> {
    const { count } = await this.#matching(orgId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Removes the connection and returns what was removed, tokens included; null when there is no such connection. */
  async remove(connectionId: string): Promise<ConnectionRow | null> {
    const removed = await this.#removing().where('c.id', '=', asId('connection', connectionId)).executeTakeFirst();
    return removed ?? null;
  }

  /** Removes a connection of the organization as `remove` does: of one user, or of anybody. */
  async removeOf(
    orgId: Id<'org'>,
    userId: Id<'user'> | null,
    connectionId: Id<'connection'>,
  ): Promise<ConnectionRow | null> {
    const removed = await this.#removing()
      .where('c.id', '=', connectionId)
      .where('c.org_id', '=', orgId)
      .$if(userId !== null, (query) => query.where('c.user_id', '=', userId))
      .executeTakeFirst();
    return removed ?? null;
  }

  /** Removes the connections of one person in every organization and returns what was removed, tokens included. */
  async removeEveryOf(userId: Id<'user'>): Promise<ConnectionRow[]> {
    return await this.#removing().where('c.user_id', '=', userId).execute();
  }

  /** Removes up to so many older ones that no token and no code can open any more. */
  async removeDead(before: Temporal.Instant, now: Temporal.Instant, limit: number): Promise<ConnectionRow[]> {
    return await this.#removing()
      .where('c.id', 'in', (eb) =>
        eb
          .selectFrom('connections as d')
          .select('d.id')
          .where('d.created_at', '<', before)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('oauth_records as r')
                  .select('r.hash')
                  .whereRef('r.connection_id', '=', 'd.id')
                  .where('r.consumed_at', 'is', null)
                  .where('r.expires_at', '>', now),
              ),
            ),
          )
          .limit(limit),
      )
      .execute();
  }

  #matching(orgId: Id<'org'>, { ofUser, text }: ConnectionFilter) {
    let query = this.selectFrom('connections as c')
      .innerJoin('users as u', 'u.id', 'c.user_id')
      .where('c.org_id', '=', orgId);
    if (ofUser !== null) query = query.where('c.user_id', '=', ofUser);
    if (text !== undefined) {
      query = query.where(
        ({ ref }) =>
          sql<boolean>`strpos(lower(concat_ws(' ', ${ref('c.client_name')}, ${ref('u.name')})), lower(${text})) > 0`,
      );
    }
    return query;
  }

  #removing() {
    return this.deleteFrom('connections as c').returning(SELECTED);
  }
}
