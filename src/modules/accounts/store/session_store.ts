import { expressionBuilder } from 'kysely';

import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { SessionEntity } from '#storage/postgres/entities/sign_in.ts';
import type { NewestPage } from '#storage/postgres/newest_page.ts';
import type { Tables } from '#storage/postgres/tables.ts';
import { hasSecondFactor } from '#modules/accounts/store/standing.ts';

const LISTED = ['userId', 'address', 'userAgent', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;

/** A person signed in in one browser. It ends at `expiresAt`, or sooner when it is not used. */
export type SessionRow = Pick<Row<typeof SessionEntity>, (typeof LISTED)[number]> & {
  readonly sessionId: Id<'session'>;
};

export type SessionOfPerson = SessionRow &
  Pick<Row<typeof SessionEntity>, 'secondFactorAt' | 'providerOrgId'> & {
    readonly email: string;
    readonly name: string;
    /** Whether the person has set up a second factor. */
    readonly hasSecondFactor: boolean;
  };

/** A session of a member with its person, and the organization whose provider began it. */
export type MemberSession = SessionRow &
  Pick<Row<typeof SessionEntity>, 'providerOrgId'> & { readonly email: string; readonly name: string };

/** Filter of the live sessions of an organization's members. */
export interface SessionsOfOrganization {
  readonly orgId: Id<'org'>;
  /** Person to whom the listed sessions belong. */
  readonly userId?: string | undefined;
  readonly liveness: Liveness;
}

/** Bounds of live sessions: not past their end, and used since then. */
export interface Liveness {
  readonly now: Temporal.Instant;
  readonly usedSince: Temporal.Instant;
}

export type AskingSession = Pick<SessionOfPerson, 'userId' | 'providerOrgId'>;

/** Sessions of people, found by the hash of their token. One that ended is a row that is gone. */
export class SessionStore extends PostgresStore {
  async insert(
    session: Omit<SessionRow, 'sessionId'> & Pick<Row<typeof SessionEntity>, 'tokenHash' | 'providerOrgId'>,
  ): Promise<Id<'session'>> {
    const id = newId('session');
    const { userId, tokenHash, address, userAgent, createdAt, lastUsedAt, expiresAt, providerOrgId } = session;
    const row = { id, userId, tokenHash, address, userAgent, createdAt, lastUsedAt, expiresAt, providerOrgId };
    await this.insertInto('sessions').values(toColumns(SessionEntity, row)).execute();
    return id;
  }

  async findLive(tokenHash: Buffer, liveness: Liveness): Promise<SessionOfPerson | null> {
    const row = await this.#live(liveness)
      .innerJoin('users as u', 'u.id', 's.user_id')
      .select(['u.email', 'u.name', 's.second_factor_at as secondFactorAt', 's.provider_org_id as providerOrgId'])
      .select(({ ref }) => hasSecondFactor(ref('s.user_id')).as('hasSecondFactor'))
      .where('s.token_hash', '=', tokenHash)
      .executeTakeFirst();
    return row ?? null;
  }

  async noteSecondFactor(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('sessions').set({ second_factor_at: now }).where('id', '=', sessionId).execute();
  }

  async touch(sessionId: Id<'session'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('sessions').set({ last_used_at: now }).where('id', '=', sessionId).execute();
  }

  /** The live ones that this one may know of, last used first. */
  async listOf(asking: AskingSession, liveness: Liveness, limit: number): Promise<SessionRow[]> {
    return await this.#live(liveness)
      .where(isKnownTo(asking))
      .orderBy('s.last_used_at', 'desc')
      .orderBy('s.id', 'desc')
      .limit(limit)
      .execute();
  }

  async countOf(asking: AskingSession, liveness: Liveness): Promise<number> {
    const { count } = await this.#live(liveness)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(isKnownTo(asking))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Whether a session of the user's was begun from this address. */
  async isKnownAddress(userId: Id<'user'>, address: string): Promise<boolean> {
    const row = await this.selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('address', '=', address)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** False when the user has no such session, or this one may not know of it. */
  async end(asking: AskingSession, sessionId: string): Promise<boolean> {
    const ended = await this.deleteFrom('sessions as s')
      .where(isKnownTo(asking))
      .where('s.id', '=', asId('session', sessionId))
      .execute();
    return rowsChanged(ended) > 0;
  }

  /** Ends the others that this one may know of; returns those that ended. */
  async endOthers(asking: AskingSession & { readonly sessionId: Id<'session'> }): Promise<Id<'session'>[]> {
    const ended = await this.deleteFrom('sessions as s')
      .where(isKnownTo(asking))
      .where('s.id', '<>', asking.sessionId)
      .returning('s.id')
      .execute();
    return ended.map(({ id }) => id);
  }

  /** Ends all of the user's, or all but one; returns those that ended. */
  async endAll(userId: Id<'user'>, except: Id<'session'> | null): Promise<Id<'session'>[]> {
    const ended = await this.deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('id', 'is distinct from', except)
      .returning('id')
      .execute();
    return ended.map(({ id }) => id);
  }

  /** Ends every session of a person who is a member of no organization any more. */
  async endAllOfFormer(userId: Id<'user'>): Promise<void> {
    await this.deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where(({ exists, not, selectFrom }) =>
        not(exists(selectFrom('memberships').select('org_id').where('user_id', '=', userId))),
      )
      .execute();
  }

  /** Lists live sessions of members that can act in the organization, newest first, with their people. */
  async listOfOrganization(
    wanted: SessionsOfOrganization,
    { after, limit }: NewestPage<'session'>,
  ): Promise<MemberSession[]> {
    let sessions = this.#ofOrganization(wanted)
      .innerJoin('users as u', 'u.id', 's.user_id')
      .select(['u.email', 'u.name', 's.provider_org_id as providerOrgId']);
    if (after !== null) {
      sessions = sessions.where((eb) => eb(eb.refTuple('s.created_at', 's.id'), '<', eb.tuple(after.at, after.id)));
    }
    return await sessions.orderBy('s.created_at', 'desc').orderBy('s.id', 'desc').limit(limit).execute();
  }

  async countOfOrganization(wanted: SessionsOfOrganization): Promise<number> {
    const { count } = await this.#ofOrganization(wanted)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Ends one or all sessions of a member that can act in the organization, and returns those that ended. */
  async endOfMember(orgId: Id<'org'>, userId: Id<'user'>, sessionId: string | null): Promise<Id<'session'>[]> {
    const ended = await this.deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where(({ eb, or }) => or([eb('provider_org_id', 'is', null), eb('provider_org_id', '=', orgId)]))
      .$if(sessionId !== null, (query) => query.where('id', '=', asId('session', sessionId ?? '')))
      .returning('id')
      .execute();
    return ended.map(({ id }) => id);
  }

  /** Ends those of a person that the provider of the organization began, and returns them. */
  async endOfProvider(orgId: Id<'org'>, userId: Id<'user'>): Promise<Id<'session'>[]> {
    const ended = await this.deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('provider_org_id', '=', orgId)
      .returning('id')
      .execute();
    return ended.map(({ id }) => id);
  }

  /** Removes what no longer opens anything. */
  async removeEnded({ now, usedSince }: Liveness): Promise<void> {
    await this.deleteFrom('sessions')
      .where(({ eb, or }) => or([eb('expires_at', '<=', now), eb('last_used_at', '<=', usedSince)]))
      .execute();
  }

  #ofOrganization({ orgId, userId, liveness }: SessionsOfOrganization) {
    return this.#live(liveness)
      .innerJoin('memberships as m', 'm.user_id', 's.user_id')
      .where('m.org_id', '=', orgId)
      .where(({ eb, or }) => or([eb('s.provider_org_id', 'is', null), eb('s.provider_org_id', '=', orgId)]))
      .$if(userId !== undefined, (query) => query.where('s.user_id', '=', asId('user', userId ?? '')));
  }

  #live({ now, usedSince }: Liveness) {
    return this.selectFrom('sessions as s')
      .select(columns(SessionEntity, 's', LISTED))
      .select('s.id as sessionId')
      .where('s.expires_at', '>', now)
      .where('s.last_used_at', '>', usedSince);
  }
}

/**
 * Condition on `sessions as s`: of the same person. Whoever runs the provider of one organization learns nothing of where
 * the person is signed in otherwise, and ends none of it.
 */
function isKnownTo({ userId, providerOrgId }: AskingSession) {
  const eb = expressionBuilder<Tables & { s: Tables['sessions'] }, 's'>();
  const isOwn = eb('s.user_id', '=', userId);
  return providerOrgId === null ? isOwn : eb.and([isOwn, eb('s.provider_org_id', '=', providerOrgId)]);
}
