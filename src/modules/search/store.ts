import { type Expression, type SelectQueryBuilder, sql } from 'kysely';

import { FOUND_PER_KIND, FOUND_TOTAL_MAX, type SearchKind } from '#modules/search/decide/search_kinds.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { daysBefore } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Result of a search. */
export interface FoundThing {
  readonly kind: SearchKind;
  readonly id: string;
  readonly name: string;
  /** Text that tells it from others of its name; null for none. */
  readonly detail: string | null;
  /** Results of its kind, this one included. */
  readonly total: number;
}

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly detail: string | null;
}

/** Incidents and exceptions that are looked through, the newest first: of these an organization may have very many. */
const LOOKED_THROUGH_MAX = 5_000;

/** Finds things of any kind by their names, in one statement. */
export class SearchReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Finds the best few of each kind whose name and detail hold all of these words. */
  async find(
    orgId: Id<'org'>,
    kinds: readonly SearchKind[],
    words: readonly string[],
    now: Temporal.Instant,
  ): Promise<FoundThing[]> {
    const [first, ...rest] = kinds.map((kind) => this.#best(kind, this.#things(orgId, kind, now), words));
    if (first === undefined || words.length === 0) return [];
    return await rest.reduce((all, next) => all.unionAll(next), first).execute();
  }

  #best(kind: SearchKind, things: Things, words: readonly string[]) {
    const [begin = ''] = words;
    const matching = this.#session.db
      .selectFrom(things.as('t'))
      .select(['t.id', 't.name', 't.detail'])
      .where(({ and, or, ref }) =>
        and(words.map((word) => or([holds(ref('t.name'), word), holds(ref('t.detail'), word)]))),
      )
      .limit(FOUND_TOTAL_MAX);
    const best = this.#session.db
      .selectFrom(matching.as('m'))
      .select(['m.id', 'm.name', 'm.detail'])
      .select((eb) => eb.fn.countAll<number>().over().as('total'))
      .orderBy(({ ref }) => beginsWith(ref('m.name'), begin), 'desc')
      .orderBy(({ ref }) => holds(ref('m.name'), begin), 'desc')
      .orderBy(({ fn }) => fn('lower', ['m.name']))
      .orderBy('m.id')
      .limit(FOUND_PER_KIND);
    return this.#session.db
      .selectFrom(best.as('b'))
      .select(['b.id', 'b.name', 'b.detail', 'b.total'])
      .select(sql<SearchKind>`${kind}::text`.as('kind'));
  }

  /** Selects the organization's things of a kind, as far as they are looked through. */
  #things(orgId: Id<'org'>, kind: SearchKind, now: Temporal.Instant): Things {
    const { db } = this.#session;
    const services = db.selectFrom('services as s').where('s.org_id', '=', orgId).where('s.deleted_at', 'is', null);
    const teams = db.selectFrom('teams as t').where('t.org_id', '=', orgId);
    const none = sql<null>`null::text`.as('detail');
    switch (kind) {
      case 'service':
        return services.select(['s.id', 's.name', 's.environment as detail']);
      case 'rule':
        return services
          .innerJoin('alert_rules as r', 'r.service_id', 's.id')
          .select(['r.id', 'r.name', 's.name as detail']);
      case 'group': {
        const newest = db
          .selectFrom('exception_groups')
          .select(['id', 'title', 'service_id'])
          .where('org_id', '=', orgId)
          .where('merged_into_id', 'is', null)
          .orderBy('last_seen_at', 'desc')
          .orderBy('id', 'desc')
          .limit(LOOKED_THROUGH_MAX);
        return services
          .innerJoin(newest.as('g'), 'g.service_id', 's.id')
          .select(['g.id', 'g.title as name', 's.name as detail']);
      }
      case 'incident': {
        const newest = db
          .selectFrom('incidents')
          .select(['id', 'number', 'title', 'status', 'service_id', 'resolved_at'])
          .where('org_id', '=', orgId)
          .orderBy('triggered_at', 'desc')
          .orderBy('id', 'desc')
          .limit(LOOKED_THROUGH_MAX);
        return services
          .innerJoin(newest.as('i'), 'i.service_id', 's.id')
          .where((eb) =>
            eb.or([
              eb('i.status', '<>', 'resolved'),
              eb('i.resolved_at', '>=', daysBefore(now, eb.ref('s.retention_oncall'))),
            ]),
          )
          .select(['i.id', 'i.title as name'])
          .select(({ ref }) =>
            sql<string>`concat('#', ${ref('i.number')}, ' ', ${ref('i.status')}, ' ', ${ref('s.name')})`.as('detail'),
          );
      }
      case 'dashboard':
        return db
          .selectFrom('dashboards as d')
          .leftJoin('services as s', 's.id', 'd.service_id')
          .where('d.org_id', '=', orgId)
          .where('s.deleted_at', 'is', null)
          .select(['d.id', 'd.name', 's.name as detail']);
      case 'person':
        return db
          .selectFrom('memberships as m')
          .innerJoin('users as u', 'u.id', 'm.user_id')
          .where('m.org_id', '=', orgId)
          .select(['u.id', 'u.name', 'u.email as detail']);
      case 'team':
        return teams.select(['t.id', 't.name', none]);
      case 'schedule':
        return teams.innerJoin('schedules as c', 'c.team_id', 't.id').select(['c.id', 'c.name', 't.name as detail']);
      case 'policy':
        return teams
          .innerJoin('escalation_policies as p', 'p.team_id', 't.id')
          .select(['p.id', 'p.name', 't.name as detail']);
    }
  }
}

type Things = SelectQueryBuilder<never, never, Thing>;

function holds(value: Expression<string | null>, word: string) {
  return sql<boolean>`${folding(value, word)} ilike ${`%${escaped(word)}%`}`;
}

function beginsWith(value: Expression<string | null>, word: string) {
  return sql<boolean>`${folding(value, word)} ilike ${`${escaped(word)}%`}`;
}

/** Folding only ASCII letters takes half of the time, and suffices for a word of ASCII letters. */
function folding(value: Expression<string | null>, word: string) {
  return /^[ -~]*$/.test(word) ? sql<string>`${value} collate "C"` : value;
}

function escaped(word: string): string {
  return word.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
