import { type Expression, sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, field, PostgresStore, rowsOf } from '#storage/postgres/store.ts';
import type { Liveness } from '#modules/accounts/store/session_store.ts';
import { hasSecondFactor, providerRuleOf, type Standing } from '#modules/accounts/store/standing.ts';

/** Something that was changed, or that something happened to. */
export interface StoredChange {
  /** The same for the same change, however often it is read. */
  readonly key: string;
  readonly orgId: Id<'org'>;
  /** The id of what it is about, which tells its kind. */
  readonly target: string;
  /** The team or the service that it belongs to, where that was written. */
  readonly owner: string | null;
}

/** Somebody who listens and is signed in still, with how they stand in the organization. */
interface LiveListener extends Standing {
  readonly sessionId: string;
  readonly orgId: Id<'org'>;
  readonly secondFactorAt: Temporal.Instant | null;
  readonly providerOrgId: Id<'org'> | null;
}

/** Somebody who listens to an organization. */
export interface Listener {
  readonly sessionId: Id<'session'>;
  readonly orgId: Id<'org'>;
  readonly address: string | null;
}

/** Limit on the changes of one kind that are read. */
export const CHANGES_MAX = 2_000;

/**
 * Reads recent changes from what is written anyway: the audit log (all that people and rules change), the timelines
 * of incidents, and when exceptions were last seen. Each part goes by an index that is there for other reasons.
 */
export class ChangeReader extends PostgresStore {
  /** `entriesMax`: how many of the newest entries of timelines are looked at, those of all organizations together. */
  async listSince(
    orgIds: readonly Id<'org'>[],
    since: Temporal.Instant,
    entriesMax = CHANGES_MAX,
  ): Promise<StoredChange[]> {
    const { db } = this;
    const audited = db
      .selectFrom('audit_log as a')
      .select((eb) => [
        eb.cast<string>('a.id', 'text').as('key'),
        'a.org_id as orgId',
        eb.ref('a.target').$notNull().as('target'),
        eb.fn.coalesce(this.#ownerIn(eb.ref('a.after')), this.#ownerIn(eb.ref('a.before'))).as('owner'),
      ])
      .where('a.org_id', '=', anyOf(orgIds))
      .where('a.at', '>', since)
      .where('a.target', 'is not', null)
      .where('a.result', '=', 'done')
      .orderBy('a.at', 'desc')
      .limit(CHANGES_MAX);
    const happened = db
      .selectFrom('incident_timeline as t')
      .innerJoin('incidents as i', 'i.id', 't.incident_id')
      .select((eb) => [
        sql<string>`'timeline ' || ${eb.ref('t.id')}`.as('key'),
        'i.org_id as orgId',
        eb.cast<string>('i.id', 'text').as('target'),
        sql<string | null>`null`.as('owner'),
      ])
      .where('t.id', '>', (eb) =>
        eb
          .selectFrom('incident_timeline as last')
          .select(({ fn, lit }) => eb(fn.max('last.id'), '-', lit(entriesMax)).as('id')),
      )
      .where('t.at', '>', since)
      .where('i.org_id', '=', anyOf(orgIds));
    const seen = db
      .selectFrom('exception_groups as g')
      .select((eb) => [
        sql<string>`${eb.ref('g.id')} || ' ' || ${eb.ref('g.last_seen_at')}`.as('key'),
        'g.org_id as orgId',
        eb.cast<string>('g.id', 'text').as('target'),
        sql<string | null>`null`.as('owner'),
      ])
      .where('g.org_id', '=', anyOf(orgIds))
      .where('g.last_seen_at', '>', since)
      .orderBy('g.last_seen_at', 'desc')
      .limit(CHANGES_MAX);
    return await db
      .selectFrom(audited.as('audited'))
      .selectAll()
      .unionAll(happened)
      .unionAll(db.selectFrom(seen.as('seen')).selectAll())
      .execute();
  }

  /**
   * Returns the listeners who are still signed in and still members, with the standing that decides whether they may
   * listen.
   */
  async listLiveListeners(listeners: readonly Listener[], { now, usedSince }: Liveness): Promise<LiveListener[]> {
    const pairs = new Map(listeners.map((listener) => [`${listener.sessionId} ${listener.orgId}`, listener]));
    const asked = [...pairs.values()];
    const listening = rowsOf('l', {
      session_id: ['text', asked.map(({ sessionId }) => sessionId)],
      org_id: ['text', asked.map(({ orgId }) => orgId)],
    });
    return await this.selectFrom(listening)
      .innerJoin('sessions as s', 's.id', 'l.session_id')
      .innerJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'l.org_id').onRef('m.user_id', '=', 's.user_id'),
      )
      .innerJoin('organizations as o', 'o.id', 'm.org_id')
      .select(['l.session_id as sessionId', 'l.org_id as orgId', 's.second_factor_at as secondFactorAt'])
      .select(['m.role', 'o.second_factor_required as secondFactorRequired', 'o.session_networks as networks'])
      .select('s.provider_org_id as providerOrgId')
      .select(({ ref }) => hasSecondFactor(ref('m.user_id')).as('hasSecondFactor'))
      .select(({ ref }) => providerRuleOf(ref('o.id')).as('providerRule'))
      .where('s.expires_at', '>', now)
      .where('s.last_used_at', '>', usedSince)
      .execute();
  }

  /** Overrides name their schedule, all others the team or the service itself. */
  #ownerIn(fields: Expression<object | null>): Expression<string | null> {
    const schedule = this.selectFrom('schedules as s')
      .select('s.team_id')
      .where('s.id', '=', field<Id<'schedule'>>(fields, 'scheduleId'));
    return sql<string | null>`coalesce(${field(fields, 'teamId')}, ${field(fields, 'serviceId')}, ${schedule})`;
  }
}
