import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

import { FOUND_PER_KIND, FOUND_TOTAL_MAX, type SearchKind } from '#modules/search/decide/search_kinds.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { daysBefore, PostgresStore } from '#storage/postgres/store.ts';

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

/** Thing with its text in small letters: a line of its name, and one of its detail. */
interface Thing {
  readonly id: string;
  readonly name: string;
  readonly detail: string | null;
  readonly folded: string;
}

type Things = SelectQueryBuilder<never, never, Thing>;

/** Service whose name holds a word, by the position of the word from 1. */
interface MatchedService {
  readonly id: string;
  readonly place: number;
}

/** Words that are looked for in an organization. */
interface Search {
  readonly orgId: Id<'org'>;
  readonly words: readonly string[];
  readonly now: Temporal.Instant;
  /** Returns the text in small letters. */
  fold(text: Expression<string | null>): RawBuilder<string>;
}

/** Incidents and exceptions that are looked through, the newest first: of these an organization may have very many. */
const LOOKED_THROUGH_MAX = 5_000;

/** Keeps a query in parentheses apart, so that each word does not fold its text again. */
const APART = sql<number>`0`;

/**
 * Finds things of any kind by their names, in one statement. The text of a row is folded once for all words. Services are
 * looked through once, for themselves and for all that belongs to them, which is joined with its service only when it is
 * found.
 */
export class SearchReader extends PostgresStore {
  /** Finds the best few of each kind whose name and detail hold all of these words. */
  async find(
    orgId: Id<'org'>,
    kinds: readonly SearchKind[],
    words: readonly string[],
    now: Temporal.Instant,
  ): Promise<FoundThing[]> {
    if (words.length === 0) return [];
    const search: Search = { orgId, words, now, fold: foldFor(words) };
    const [first, ...rest] = kinds.map((kind) => this.#best(kind, search));
    if (first === undefined) return [];
    return await this.db
      .with(
        (cte) => cte('near').materialized(),
        (db) =>
          db
            .selectFrom(
              db
                .selectFrom('services')
                .where('org_id', '=', orgId)
                .where('deleted_at', 'is', null)
                .select(['id', 'name', 'environment as detail'])
                .select(({ ref }) => search.fold(lines(ref('name'), ref('environment'))).as('folded'))
                .offset(APART)
                .as('s'),
            )
            .where((eb) => eb.or(words.map((word) => eb('s.folded', 'like', holding(word)))))
            .selectAll()
            .select(({ ref }) => firstLine(ref('s.folded')).as('own')),
      )
      .with(
        (cte) => cte('matched').materialized(),
        (db) =>
          db
            .selectFrom('near')
            .innerJoin(
              sql<{ pattern: string; place: number }>`unnest(${words.map(holding)}::text[]) with ordinality`.as<'w'>(
                sql`w(pattern, place)`,
              ),
              (join) => join.on(({ eb, ref }) => eb('near.own', 'like', ref('w.pattern'))),
            )
            .select(['near.id', 'w.place']),
      )
      .selectFrom(rest.reduce((all, next) => all.unionAll(next), first).as('f'))
      .selectAll()
      .execute();
  }

  /** Selects the best few of a kind, those that begin with the first word first, each with how many there are. */
  #best(kind: SearchKind, search: Search) {
    const [begin = ''] = search.words;
    const best = this.selectFrom(this.#things(kind, search).limit(FOUND_TOTAL_MAX).as('m'))
      .select(['m.id', 'm.name', 'm.detail'])
      .select((eb) => eb.fn.countAll<number>().over().as('total'))
      .orderBy((eb) => eb('m.folded', 'like', `${escaped(begin)}%`), 'desc')
      .orderBy(({ ref }) => sql`${firstLine(ref('m.folded'))} like ${holding(begin)}`, 'desc')
      .orderBy('m.folded')
      .orderBy('m.id')
      .limit(FOUND_PER_KIND);
    return this.selectFrom(best.as('b'))
      .select(['b.id', 'b.name', 'b.detail', 'b.total'])
      .select(sql<SearchKind>`${kind}::text`.as('kind'));
  }

  /** Selects the organization's things of a kind that hold the words, as far as they are looked through. */
  #things(kind: SearchKind, search: Search): Things {
    const { orgId, now, fold } = search;
    const { db } = this;
    const teams = db.selectFrom('teams as t').where('t.org_id', '=', orgId);
    switch (kind) {
      case 'service':
        return db
          .withTables<{ near: Thing }>()
          .selectFrom('near')
          .where(({ ref }) => this.#holdsAll(ref('near.folded'), search))
          .select(['near.id', 'near.name', 'near.detail', 'near.folded']);
      case 'rule':
        return this.#ofService(
          db
            .selectFrom('alert_rules')
            .where('org_id', '=', orgId)
            .select(({ ref }) => ['id', 'name', 'service_id', fold(ref('name')).as('folded')]),
          search,
        );
      case 'group':
        return this.#ofService(
          db
            .selectFrom('exception_groups')
            .where('org_id', '=', orgId)
            .where('merged_into_id', 'is', null)
            .select(({ ref }) => ['id', 'title as name', 'service_id', fold(ref('title')).as('folded')])
            .orderBy('last_seen_at', 'desc')
            .orderBy('id', 'desc')
            .limit(LOOKED_THROUGH_MAX),
          search,
        );
      case 'incident': {
        const label = (number: Expression<number>, status: Expression<string>) =>
          sql<string>`'#' || ${number} || ' ' || ${status}`;
        const newest = db
          .selectFrom('incidents')
          .where('org_id', '=', orgId)
          .select(({ ref }) => [
            'id',
            'title as name',
            'service_id',
            'status',
            'resolved_at',
            label(ref('number'), ref('status')).as('label'),
            fold(lines(ref('title'), label(ref('number'), ref('status')))).as('folded'),
          ])
          .orderBy('triggered_at', 'desc')
          .orderBy('id', 'desc')
          .limit(LOOKED_THROUGH_MAX);
        return db
          .selectFrom(newest.as('t'))
          .innerJoin('services as s', 's.id', 't.service_id')
          .where('s.deleted_at', 'is', null)
          .where((eb) =>
            eb.or([
              eb('t.status', '<>', 'resolved'),
              eb('t.resolved_at', '>=', daysBefore(now, eb.ref('s.retention_oncall'))),
            ]),
          )
          .where(({ ref }) => this.#holdsAll(ref('t.folded'), search, ref('t.service_id')))
          .select(['t.id', 't.name', 't.folded'])
          .select(({ ref }) => sql<string>`concat(${ref('t.label')}, ' ', ${ref('s.name')})`.as('detail'));
      }
      case 'dashboard':
        return this.#holding(
          db
            .selectFrom('dashboards as d')
            .leftJoin('services as s', 's.id', 'd.service_id')
            .where('d.org_id', '=', orgId)
            .where('s.deleted_at', 'is', null)
            .select(['d.id', 'd.name', 's.name as detail'])
            .select(({ ref }) => fold(lines(ref('d.name'), ref('s.name'))).as('folded')),
          search,
        );
      case 'person':
        return this.#holding(
          db
            .selectFrom('memberships as m')
            .innerJoin('users as u', 'u.id', 'm.user_id')
            .where('m.org_id', '=', orgId)
            .select(['u.id', 'u.name', 'u.email as detail'])
            .select(({ ref }) => fold(lines(ref('u.name'), ref('u.email'))).as('folded')),
          search,
        );
      case 'team':
        return this.#holding(
          teams
            .select(['t.id', 't.name', sql<null>`null::text`.as('detail')])
            .select(({ ref }) => fold(ref('t.name')).as('folded')),
          search,
        );
      case 'schedule':
        return this.#holding(
          teams
            .innerJoin('schedules as c', 'c.team_id', 't.id')
            .select(['c.id', 'c.name', 't.name as detail'])
            .select(({ ref }) => fold(lines(ref('c.name'), ref('t.name'))).as('folded')),
          search,
        );
      case 'policy':
        return this.#holding(
          teams
            .innerJoin('escalation_policies as p', 'p.team_id', 't.id')
            .select(['p.id', 'p.name', 't.name as detail'])
            .select(({ ref }) => fold(lines(ref('p.name'), ref('t.name'))).as('folded')),
          search,
        );
    }
  }

  /** Selects those of the things that hold all words. */
  #holding(things: Things, search: Search): Things {
    return this.selectFrom(things.offset(APART).as('t'))
      .where(({ ref }) => this.#holdsAll(ref('t.folded'), search))
      .select(['t.id', 't.name', 't.detail', 't.folded']);
  }

  /** Selects those of the things of services that hold all words, themselves or in the name of their service. */
  #ofService(things: SelectQueryBuilder<never, never, OfService>, search: Search): Things {
    return this.selectFrom(things.offset(APART).as('t'))
      .innerJoin('services as s', 's.id', 't.service_id')
      .where('s.deleted_at', 'is', null)
      .where(({ ref }) => this.#holdsAll(ref('t.folded'), search, ref('t.service_id')))
      .select(['t.id', 't.name', 's.name as detail', 't.folded']);
  }

  /** Whether a text holds all words; each of them may be in the name of its service instead. */
  #holdsAll(folded: Expression<string>, { words }: Search, serviceId?: Expression<string>): RawBuilder<boolean> {
    const db = this.db.withTables<{ matched: MatchedService }>();
    // Few texts hold a long word, and the others are not looked at for the short ones.
    const longestFirst = [...words.entries()].toSorted(([, a], [, b]) => b.length - a.length);
    const holds = longestFirst.map(([index, word]) => {
      if (serviceId === undefined) return sql`${folded} like ${holding(word)}`;
      const matched = db
        .selectFrom('matched')
        .where('place', '=', index + 1)
        .select('id');
      return sql`(${folded} like ${holding(word)} or ${serviceId} in ${matched})`;
    });
    const all = sql.join(holds, sql` and `);
    return sql<boolean>`(${all})`;
  }
}

interface OfService extends Omit<Thing, 'detail'> {
  readonly service_id: string;
}

/** Separator of the lines of a text. */
const LINE = '\n';

function firstLine(text: Expression<string>): RawBuilder<string> {
  return sql<string>`split_part(${text}, ${LINE}, 1)`;
}

function lines(name: Expression<string>, detail: Expression<string | null>): RawBuilder<string> {
  return sql<string>`${name} || coalesce(${LINE} || ${detail}, '')`;
}

/** Folding only ASCII letters takes half of the time, and suffices for words of ASCII letters. */
function foldFor(words: readonly string[]): Search['fold'] {
  const isAscii = words.every((word) => /^[ -~]*$/.test(word));
  return (text) => (isAscii ? sql<string>`lower(${text} collate "C")` : sql<string>`lower(${text})`);
}

/** Returns the pattern of texts that hold the word. */
function holding(word: string): string {
  return `%${escaped(word)}%`;
}

function escaped(word: string): string {
  return word.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
