import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A person signed in in one browser. */
export interface SessionRow {
  readonly sessionId: Id<'session'>;
  readonly userId: Id<'user'>;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Temporal.Instant;
  readonly lastUsedAt: Temporal.Instant;
  /** Whatever happens, it ends then; it ends sooner when it is not used. */
  readonly expiresAt: Temporal.Instant;
}

/** A session with whose it is. */
export type SessionOfPerson = SessionRow & {
  readonly email: string;
  readonly name: string;
  /** Whether the person has set up a second factor. */
  readonly hasSecondFactor: boolean;
  /** When one was shown in this session last; null for never. */
  readonly secondFactorAt: Temporal.Instant | null;
};

/** Which sessions are live: not past their end, and used since then. */
export interface Liveness {
  readonly now: Temporal.Instant;
  readonly usedSince: Temporal.Instant;
}

const COLUMNS = `s.id as "sessionId", s.user_id as "userId", s.address, s.user_agent as "userAgent",
  s.created_at as "createdAt", s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt"`;

/** Sessions of people, found by the hash of their token. One that ended is a row that is gone. */
export class SessionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(session: Omit<SessionRow, 'sessionId'> & { readonly tokenHash: Buffer }): Promise<Id<'session'>> {
    const id = newId('session');
    await this.#session.sql.run(
      `insert into sessions (id, user_id, token_hash, address, user_agent, created_at, last_used_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        id,
        session.userId,
        session.tokenHash,
        session.address,
        session.userAgent,
        session.createdAt.toString(),
        session.lastUsedAt.toString(),
        session.expiresAt.toString(),
      ],
    );
    return id;
  }

  async findLive(tokenHash: Buffer, { now, usedSince }: Liveness): Promise<SessionOfPerson | null> {
    return await this.#session.sql.row(
      `select ${COLUMNS}, u.email, u.name, s.second_factor_at as "secondFactorAt",
         exists (select 1 from passkeys p where p.user_id = s.user_id)
           or exists (select 1 from authenticator_apps a where a.user_id = s.user_id and a.confirmed_at is not null)
           as "hasSecondFactor"
       from sessions s join users u on u.id = s.user_id
       where s.token_hash = $1 and s.expires_at > $2 and s.last_used_at > $3`,
      [tokenHash, now.toString(), usedSince.toString()],
    );
  }

  async noteSecondFactor(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update sessions set second_factor_at = $2 where id = $1', [sessionId, now.toString()]);
  }

  async touch(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update sessions set last_used_at = $2 where id = $1', [sessionId, now.toString()]);
  }

  /** The live ones, last used first. */
  async listOf(userId: Id<'user'>, { now, usedSince }: Liveness): Promise<SessionRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from sessions s where s.user_id = $1 and s.expires_at > $2 and s.last_used_at > $3
       order by s.last_used_at desc, s.id desc limit 1000`,
      [userId, now.toString(), usedSince.toString()],
    );
  }

  /** Whether a session of the user's was begun from this address. */
  async isKnownAddress(userId: Id<'user'>, address: string): Promise<boolean> {
    const row = await this.#session.sql.row('select 1 from sessions where user_id = $1 and address = $2 limit 1', [
      userId,
      address,
    ]);
    return row !== null;
  }

  /** False when the user has no such session. */
  async end(userId: Id<'user'>, sessionId: string): Promise<boolean> {
    return (
      (await this.#session.sql.run('delete from sessions where user_id = $1 and id = $2', [userId, sessionId])) > 0
    );
  }

  /** Ends all of the user's, or all but one; returns those that ended. */
  async endAll(userId: Id<'user'>, except: Id<'session'> | null): Promise<Id<'session'>[]> {
    const ended = await this.#session.sql.rows<{ id: Id<'session'> }>(
      'delete from sessions where user_id = $1 and id is distinct from $2 returning id',
      [userId, except],
    );
    return ended.map(({ id }) => id);
  }

  /** Removes what no longer opens anything. */
  async removeEnded({ now, usedSince }: Liveness): Promise<void> {
    await this.#session.sql.run('delete from sessions where expires_at <= $1 or last_used_at <= $2', [
      now.toString(),
      usedSince.toString(),
    ]);
  }
}
