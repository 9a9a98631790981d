import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** What a connection may do at most: look, or whatever the role of its user allows. */
export type ConnectionAccess = 'read_only' | 'changes';

/** One approval of one app by one person for one organization. */
export interface ConnectionRow {
  readonly connectionId: Id<'connection'>;
  readonly orgId: Id<'org'>;
  readonly userId: Id<'user'>;
  readonly clientId: string;
  /** What the app calls itself. */
  readonly clientName: string;
  readonly clientUri: string | null;
  readonly access: ConnectionAccess;
  readonly createdAt: Temporal.Instant;
  readonly lastUsedAt: Temporal.Instant | null;
}

/** A connection as an access token of it opens it, with the role of this very moment. */
export interface LiveConnection extends ConnectionRow {
  readonly role: Role;
  /** What the token was issued for, at most the access of the connection. */
  readonly scope: string;
}

const COLUMNS = `c.id as "connectionId", c.org_id as "orgId", c.user_id as "userId", c.client_id as "clientId",
  c.client_name as "clientName", c.client_uri as "clientUri", c.access, c.created_at as "createdAt",
  c.last_used_at as "lastUsedAt"`;

/** Connected apps. One that was disconnected is a row that is gone, and its tokens with it. */
export class ConnectionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(connection: ConnectionRow): Promise<void> {
    const { connectionId, orgId, userId, clientId, clientName, clientUri, access, createdAt } = connection;
    await this.#session.sql.run(
      `insert into connections (id, org_id, user_id, client_id, client_name, client_uri, access, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [connectionId, orgId, userId, clientId, clientName, clientUri, access, createdAt.toString()],
    );
  }

  async find(connectionId: string): Promise<ConnectionRow | null> {
    return await this.#session.sql.row(`select ${COLUMNS} from connections c where c.id = $1`, [connectionId]);
  }

  /** The connection behind an access token for the resource, and its user's role, in one query; null when there is none. */
  async findByToken(tokenHash: Buffer, resource: string, now: Temporal.Instant): Promise<LiveConnection | null> {
    return await this.#session.sql.row(
      `select ${COLUMNS}, m.role, coalesce(r.payload->>'scope', '') as scope
       from oauth_records r
         join connections c on c.id = r.connection_id
         join memberships m on m.org_id = c.org_id and m.user_id = c.user_id
       where r.kind = 'AccessToken' and r.hash = $1 and r.expires_at > $3 and r.payload->>'aud' = $2`,
      [tokenHash, resource, now.toString()],
    );
  }

  async touch(connectionId: Id<'connection'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update connections set last_used_at = $2 where id = $1', [
      connectionId,
      now.toString(),
    ]);
  }

  /** Of one user, or of everybody; newest first, with the name of the user. */
  async list(orgId: Id<'org'>, userId: Id<'user'> | null): Promise<(ConnectionRow & { readonly userName: string })[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS}, u.name as "userName" from connections c join users u on u.id = c.user_id
       where c.org_id = $1 and ($2::text is null or c.user_id = $2) order by c.id desc limit 1000`,
      [orgId, userId],
    );
  }

  /** What was removed, tokens included; null when there is no such connection. */
  async remove(connectionId: string): Promise<ConnectionRow | null> {
    return await this.#session.sql.row(`delete from connections c where c.id = $1 returning ${COLUMNS}`, [
      connectionId,
    ]);
  }

  /** The same for one of the organization: of one user, or of anybody. */
  async removeOf(
    orgId: Id<'org'>,
    userId: Id<'user'> | null,
    connectionId: Id<'connection'>,
  ): Promise<ConnectionRow | null> {
    return await this.#session.sql.row(
      `delete from connections c where c.id = $3 and c.org_id = $1 and ($2::text is null or c.user_id = $2)
       returning ${COLUMNS}`,
      [orgId, userId, connectionId],
    );
  }

  /** Of one person in every organization: what was removed, tokens included. */
  async removeEveryOf(userId: Id<'user'>): Promise<ConnectionRow[]> {
    return await this.#session.sql.rows(`delete from connections c where c.user_id = $1 returning ${COLUMNS}`, [
      userId,
    ]);
  }

  /** Removes those of before then that no token and no code can open any more, at most so many. */
  async removeDead(before: Temporal.Instant, now: Temporal.Instant, limit: number): Promise<ConnectionRow[]> {
    return await this.#session.sql.rows(
      `delete from connections c where c.id in (
         select d.id from connections d
         where d.created_at < $1 and not exists (
           select 1 from oauth_records r
           where r.connection_id = d.id and r.consumed_at is null and r.expires_at > $2)
         limit $3)
       returning ${COLUMNS}`,
      [before.toString(), now.toString(), limit],
    );
  }
}
