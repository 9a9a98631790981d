import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** What the authorization server keeps: a token, a code, a request under way, a registered client. */
export interface OAuthRecord {
  readonly kind: string;
  /** Of what it is found by, which itself is kept nowhere. */
  readonly hash: Buffer;
  readonly payload: object;
  /** The connection that it ends with, if it belongs to one. */
  readonly connectionId: Id<'connection'> | null;
  readonly expiresAt: Temporal.Instant;
}

export interface FoundRecord {
  readonly payload: object;
  readonly consumedAt: Temporal.Instant | null;
}

/** Records of the authorization server, by kind and hash. */
export class OAuthRecordStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds the record or replaces what it holds; one that was consumed stays so. */
  async put({ kind, hash, payload, connectionId, expiresAt }: OAuthRecord): Promise<void> {
    await this.#session.sql.run(
      `insert into oauth_records (kind, hash, payload, connection_id, expires_at) values ($1, $2, $3, $4, $5)
       on conflict (kind, hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
      [kind, hash, JSON.stringify(payload), connectionId, expiresAt.toString()],
    );
  }

  /** null when unknown or expired. */
  async find(kind: string, hash: Buffer, now: Temporal.Instant): Promise<FoundRecord | null> {
    return await this.#session.sql.row(
      `select payload, consumed_at as "consumedAt" from oauth_records
       where kind = $1 and hash = $2 and expires_at > $3`,
      [kind, hash, now.toString()],
    );
  }

  /** True for exactly one of those who ask, however many do at once. */
  async consume(kind: string, hash: Buffer, now: Temporal.Instant): Promise<boolean> {
    const consumed = await this.#session.sql.run(
      'update oauth_records set consumed_at = $3 where kind = $1 and hash = $2 and consumed_at is null',
      [kind, hash, now.toString()],
    );
    return consumed > 0;
  }

  async keepUntil(kind: string, hash: Buffer, expiresAt: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      'update oauth_records set expires_at = greatest(expires_at, $3) where kind = $1 and hash = $2',
      [kind, hash, expiresAt.toString()],
    );
  }

  async remove(kind: string, hash: Buffer): Promise<void> {
    await this.#session.sql.run('delete from oauth_records where kind = $1 and hash = $2', [kind, hash]);
  }

  async removeOfConnection(kind: string, connectionId: string): Promise<void> {
    await this.#session.sql.run('delete from oauth_records where kind = $1 and connection_id = $2', [
      kind,
      connectionId,
    ]);
  }

  /** Removes what has expired, at most so many; a client stays as long as a connection of it does. */
  async removeExpired(now: Temporal.Instant, limit: number): Promise<number> {
    return await this.#session.sql.run(
      `delete from oauth_records where (kind, hash) in (
         select r.kind, r.hash from oauth_records r
         where r.expires_at <= $1 and not (r.kind = 'Client' and exists (
           select 1 from connections c where c.client_id = r.payload->>'client_id'))
         limit $2)`,
      [now.toString(), limit],
    );
  }
}
