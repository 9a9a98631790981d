import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { SessionEntity } from '#storage/postgres/entities/sign_in.ts';
import { hasSecondFactor } from '#modules/accounts/store/standing.ts';

const LISTED = ['userId', 'address', 'userAgent', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;

/** A person signed in in one browser. It ends at `expiresAt`, or sooner when it is not used. */
export type SessionRow = Pick<Row<typeof SessionEntity>, (typeof LISTED)[number]> & {
  readonly sessionId: Id<'session'>;
};

/** A session with its person. */
export type SessionOfPerson = SessionRow &
  Pick<Row<typeof SessionEntity>, 'secondFactorAt' | 'providerOrgId'> & {
    readonly email: string;
    readonly name: string;
    /** Whether the person has set up a second factor. */
    readonly hasSecondFactor: boolean;
  };

/** Bounds of live sessions: not past their end, and used since then. */
export interface Liveness {
  readonly now: Temporal.Instant;
  readonly usedSince: Temporal.Instant;
}

/** Sessions of people, found by the hash of their token. One that ended is a row that is gone. */
export class SessionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(
    session: Omit<SessionRow, 'sessionId'> & Pick<Row<typeof SessionEntity>, 'tokenHash' | 'providerOrgId'>,
  ): Promise<Id<'session'>> {
    const id = newId('session');
    const { userId, tokenHash, address, userAgent, createdAt, lastUsedAt, expiresAt, providerOrgId } = session;
    const row = { id, userId, tokenHash, address, userAgent, createdAt, lastUsedAt, expiresAt, providerOrgId };
    await this.#session.db.insertInto('sessions').values(toColumns(SessionEntity, row)).execute();
    return id;
  }

  async findLive(tokenHash: Buffer, liveness: Liveness): Promise<SessionOfPerson | null> {
    const found = await this.#live(liveness)
      .innerJoin('users as u', 'u.id', 's.user_id')
      .select(['u.email', 'u.name', 's.second_factor_at as secondFactorAt', 's.provider_org_id as providerOrgId'])
      .select(({ ref }) => hasSecondFactor(ref('s.user_id')).as('hasSecondFactor'))
      .where('s.token_hash', '=', tokenHash)
      .executeTakeFirst();
    return found ?? null;
  }

  async noteSecondFactor(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.#session.db.updateTable('sessions').set({ second_factor_at: now }).where('id', '=', sessionId).execute();
  }

  async touch(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.#session.db.updateTable('sessions').set({ last_used_at: now }).where('id', '=', sessionId).execute();
  }

  /** The live ones, last used first. */
  async listOf(userId: Id<'user'>, liveness: Liveness, limit: number): Promise<SessionRow[]> {
    return await this.#live(liveness)
      .where('s.user_id', '=', userId)
      .orderBy('s.last_used_at', 'desc')
      .orderBy('s.id', 'desc')
      .limit(limit)
      .execute();
  }

  async countOf(userId: Id<'user'>, liveness: Liveness): Promise<number> {
    const { count } = await this.#live(liveness)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('s.user_id', '=', userId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Whether a session of the user's was begun from this address. */
  async isKnownAddress(userId: Id<'user'>, address: string): Promise<boolean> {
    const known = await this.#session.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('address', '=', address)
      .limit(1)
      .executeTakeFirst();
    return known !== undefined;
  }

  /** False when the user has no such session. */
  async end(userId: Id<'user'>, sessionId: string): Promise<boolean> {
    const ended = await this.#session.db
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', '=', asId('session', sessionId))
      .execute();
    return rowsChanged(ended) > 0;
  }

  /** Ends all of the user's, or all but one; returns those that ended. */
  async endAll(userId: Id<'user'>, except: Id<'session'> | null): Promise<Id<'session'>[]> {
    const ended = await this.#session.db
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', 'is distinct from', except)
      .returning('id')
      .execute();
    return ended.map(({ id }) => id);
  }

  /** Removes what no longer opens anything. */
  async removeEnded({ now, usedSince }: Liveness): Promise<void> {
    await this.#session.db
      .deleteFrom('sessions')
      .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('last_used_at', '<=', usedSince)]))
      .execute();
  }

  #live({ now, usedSince }: Liveness) {
    return this.#session.db
      .selectFrom('sessions as s')
      .select(columns(SessionEntity, 's', LISTED))
      .select('s.id as sessionId')
      .where('s.expires_at', '>', now)
      .where('s.last_used_at', '>', usedSince);
  }
}
