import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

import { FOUND_PER_KIND, FOUND_TOTAL_MAX, type SearchKind } from '#modules/search/decide/search_kinds.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { daysBefore, PostgresStore } from '#storage/postgres/store.ts';

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

/** Service with some of the words, a bit for each. */
interface MatchedService {
  readonly id: string;
  /** Words in its name or environment. */
  readonly all: number;
  /** Words in its name. */
  readonly named: number;
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

/** Kinds of which an organization has very many, so that only the newest are looked through. */
const NEWEST: ReadonlySet<SearchKind> = new Set(['incident', 'group']);

/**
 * Finds things of any kind by their names, in two statements at the same time: one for the newest incidents and exceptions,
 * and one for all others. The text of a row is folded once for all words.
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
    const isNewest = (kind: SearchKind) => NEWEST.has(kind);
    const results = await Promise.all([
      this.#find(kinds.filter(isNewest), search),
      this.#find(
        kinds.filter((kind) => !isNewest(kind)),
        search,
      ),
    ]);
    return results.flat();
  }

  async #find(kinds: readonly SearchKind[], search: Search): Promise<FoundThing[]> {
    const [first, ...rest] = kinds.map((kind) => this.#best(kind, search));
    if (first === undefined) return [];
    return await this.db
      .with(
        (cte) => cte('matched').materialized(),
        () => this.#matchedServices(search),
      )
      .selectFrom(rest.reduce((all, next) => all.unionAll(next), first).as('f'))
      .selectAll()
      .execute();
  }

  /** Selects the services with one of the words in name or environment. */
  #matchedServices({ orgId, words, fold }: Search) {
    const services = this.selectFrom('services')
      .where('org_id', '=', orgId)
      .where('deleted_at', 'is', null)
      .select('id')
      .select(({ ref }) => fold(lines(ref('name'), ref('environment'))).as('folded'));
    const matched = this.selectFrom(services.offset(APART).as('s'))
      .where((eb) => eb.or(words.map((word) => eb('s.folded', 'like', holding(word)))))
      .selectAll()
      .select(({ ref }) => firstLine(ref('s.folded')).as('own'));
    return this.selectFrom(matched.offset(APART).as('m'))
      .select('m.id')
      .select(({ ref }) => [bitsOf(ref('m.folded'), words).as('all'), bitsOf(ref('m.own'), words).as('named')]);
  }

  /** Selects the best few of a kind, those that begin with the first word first, each with how many there are. */
  #best(kind: SearchKind, search: Search) {
    const [begin = ''] = search.words;
    const best = this.selectFrom(this.#things(kind, search).limit(FOUND_TOTAL_MAX).as('m'))
      .select(['m.id', 'm.name', 'm.detail'])
      .select((eb) => eb.fn.countAll<number>().over().as('total'))
      // Of incidents, those that wait for somebody first.
      .$if(kind === 'incident', (incidents) =>
        incidents.orderBy(
          ({ ref }) => sql`array_position(${[...INCIDENT_STATUSES]}::text[], split_part(${ref('m.detail')}, ' ', 2))`,
        ),
      )
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
        return this.#matched
          .where('matched.all', '=', 2 ** search.words.length - 1)
          .innerJoin('services as s', 's.id', 'matched.id')
          .select(['s.id', 's.name', 's.environment as detail'])
          .select(({ ref }) => fold(lines(ref('s.name'), ref('s.environment'))).as('folded'));
      case 'rule': {
        const rules = this.selectFrom('alert_rules')
          .where('org_id', '=', orgId)
          .select(({ ref }) => ['id', 'name', 'service_id', fold(ref('name')).as('folded')]);
        return this.selectFrom(rules.offset(APART).as('t'))
          .innerJoin('services as s', 's.id', 't.service_id')
          .where('s.deleted_at', 'is', null)
          .where((eb) =>
            holdsAll(eb.ref('t.folded'), search, (index) => [
              sql<boolean>`${eb.ref('t.service_id')} in ${this.#matched.where(({ ref }) => hasBit(ref('named'), index)).select('id')}`,
            ]),
          )
          .select(['t.id', 't.name', 's.name as detail', 't.folded']);
      }
      case 'group': {
        const newest = this.selectFrom('exception_groups')
          .where('org_id', '=', orgId)
          .where('merged_into_id', 'is', null)
          .select(({ ref }) => ['id', 'title as name', 'service_id', 'last_seen_at', fold(ref('title')).as('folded')])
          .orderBy('last_seen_at', 'desc')
          .orderBy('id', 'desc')
          .limit(LOOKED_THROUGH_MAX);
        const ofServices = this.selectFrom(newest.as('g'))
          .innerJoinLateral(
            ({ ref }) => this.#serviceOf(ref('g.service_id'), search),
            (join) => join.onTrue(),
          )
          .where((eb) => eb('g.last_seen_at', '>=', daysBefore(now, eb.ref('s.retention_exceptions'))))
          .select(['g.id', 'g.name', 'g.folded', 's.name as detail', 's.held']);
        return this.selectFrom(ofServices.offset(APART).as('t'))
          .where(({ ref }) => holdsAll(ref('t.folded'), search, (index) => [hasBit(ref('t.held'), index)]))
          .select(['t.id', 't.name', 't.detail', 't.folded']);
      }
      case 'incident': {
        const newest = this.selectFrom('incidents')
          .where('org_id', '=', orgId)
          .select(['id', 'title as name', 'service_id', 'number', 'status', 'resolved_at'])
          .select(({ ref }) => fold(ref('title')).as('folded'))
          .orderBy('triggered_at', 'desc')
          .orderBy('id', 'desc')
          .limit(LOOKED_THROUGH_MAX);
        const ofServices = this.selectFrom(newest.as('i'))
          .innerJoinLateral(
            ({ ref }) => this.#serviceOf(ref('i.service_id'), search),
            (join) => join.onTrue(),
          )
          .selectAll('i')
          .select(['s.name as service', 's.retention_oncall', 's.held']);
        const labelOf = (number: Expression<number>, status: Expression<string>) =>
          sql<string>`'#' || ${number} || ' ' || ${status}`;
        return this.selectFrom(ofServices.offset(APART).as('t'))
          .where((eb) =>
            eb.or([
              eb('t.status', '<>', 'resolved'),
              eb('t.resolved_at', '>=', daysBefore(now, eb.ref('t.retention_oncall'))),
            ]),
          )
          .where(({ ref }) =>
            holdsAll(ref('t.folded'), search, (index, word) => [
              hasBit(ref('t.held'), index),
              ...(mayBeLabel(word)
                ? [sql<boolean>`${labelOf(ref('t.number'), ref('t.status'))} like ${holding(word)}`]
                : []),
            ]),
          )
          .select(['t.id', 't.name'])
          .select(({ ref }) => [
            sql<string>`concat(${labelOf(ref('t.number'), ref('t.status'))}, ' ', ${ref('t.service')})`.as('detail'),
            lines(ref('t.folded'), labelOf(ref('t.number'), ref('t.status'))).as('folded'),
          ]);
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
      .where(({ ref }) => holdsAll(ref('t.folded'), search))
      .select(['t.id', 't.name', 't.detail', 't.folded']);
  }

  /** Selects the service of a thing with the words that its name holds, once for all things of the same service. */
  #serviceOf(serviceId: Expression<string>, { fold, words }: Search) {
    return this.selectFrom('services')
      .where(({ ref }) => sql<boolean>`${ref('id')} = ${serviceId}`)
      .where('deleted_at', 'is', null)
      .select(['name', 'retention_oncall', 'retention_exceptions'])
      .select(({ ref }) => bitsOf(fold(ref('name')), words).as('held'))
      .limit(1)
      .as('s');
  }

  get #matched() {
    return this.db.withTables<{ matched: MatchedService }>().selectFrom('matched');
  }
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

/** Whether a text holds all words; each of them may be elsewhere instead. */
function holdsAll(
  folded: Expression<string>,
  { words }: Search,
  elsewhere: (index: number, word: string) => readonly Expression<boolean | number>[] = () => [],
): RawBuilder<boolean> {
  // Few texts hold a long word, and the others are not looked at for the short ones.
  const longestFirst = [...words.entries()].toSorted(([, a], [, b]) => b.length - a.length);
  const holds = longestFirst.map(([index, word]) => {
    const places = sql.join([sql`${folded} like ${holding(word)}`, ...elsewhere(index, word)], sql` or `);
    return sql`(${places})`;
  });
  const all = sql.join(holds, sql` and `);
  return sql<boolean>`(${all})`;
}

/** Returns which of the words a text holds: a bit for each. */
function bitsOf(folded: Expression<string>, words: readonly string[]): RawBuilder<number> {
  const bits = words.map(
    (word, index) => sql`case when ${folded} like ${holding(word)} then ${sql.lit(2 ** index)} else 0 end`,
  );
  const all = sql.join(bits, sql` | `);
  return sql<number>`(${all})`;
}

function hasBit(bits: Expression<number>, index: number): RawBuilder<boolean> {
  return sql<boolean>`${bits} & ${sql.lit(2 ** index)} <> 0`;
}

/** Whether a word may be in the number or status of an incident. */
function mayBeLabel(word: string): boolean {
  return /^#?\d*$/.test(word) || INCIDENT_STATUSES.some((status) => status.includes(word));
}
