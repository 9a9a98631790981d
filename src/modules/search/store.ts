import { type RawBuilder, sql } from 'kysely';

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

type Sql = RawBuilder<unknown>;

/** Words that are looked for in an organization. */
interface Search {
  readonly orgId: Id<'org'>;
  readonly words: readonly string[];
  readonly now: Temporal.Instant;
  /** Returns the column in small letters. */
  fold(column: Sql): Sql;
}

/** Incidents and exceptions that are looked through, the newest first: of these an organization may have very many. */
const LOOKED_THROUGH_MAX = 5_000;

/**
 * Finds things of any kind by their names, in one statement. The text of a row is folded once for all words, and the names
 * of services are matched once for all that belongs to them, which is joined with its service only when it is found.
 */
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
    if (kinds.length === 0 || words.length === 0) return [];
    const search: Search = { orgId, words, now, fold: foldFor(words) };
    const best = kinds.map((kind) => bestOf(kind, search));
    const { rows } = await sql<FoundThing>`
      with matched as materialized (
        select s.id, w.place
        from (select id, ${search.fold(sql`name`)} as folded from services
          where org_id = ${orgId} and deleted_at is null offset 0) s
        join unnest(${words.map(holding)}::text[]) with ordinality w(pattern, place) on s.folded like w.pattern)
      ${sql.join(best, sql` union all `)}`.execute(this.#session.db);
    return rows;
  }
}

/** Selects the best few of a kind, those that begin with the first word first, each with how many there are. */
function bestOf(kind: SearchKind, search: Search): Sql {
  const [begin = ''] = search.words;
  return sql`(
    select ${kind}::text as kind, id, name, detail, count(*) over () as total
    from (${thingsOf(kind, search)} limit ${FOUND_TOTAL_MAX}) m
    order by folded like ${`${escaped(begin)}%`} desc, split_part(folded, E'\n', 1) like ${holding(begin)} desc, folded, id
    limit ${FOUND_PER_KIND})`;
}

/** Selects the organization's things of a kind that hold the words, as far as they are looked through. */
function thingsOf(kind: SearchKind, search: Search): Sql {
  const { orgId, now, fold } = search;
  switch (kind) {
    case 'service':
      return holdingAll(
        sql`select id, name, environment as detail, ${fold(sql`concat_ws(E'\n', name, environment)`)} as folded
          from services where org_id = ${orgId} and deleted_at is null`,
        search,
      );
    case 'rule':
      return ofService(
        sql`select id, name, service_id, ${fold(sql`name`)} as folded from alert_rules where org_id = ${orgId}`,
        search,
      );
    case 'group':
      return ofService(
        sql`select id, title as name, service_id, ${fold(sql`title`)} as folded from exception_groups
          where org_id = ${orgId} and merged_into_id is null
          order by last_seen_at desc, id desc limit ${LOOKED_THROUGH_MAX}`,
        search,
      );
    case 'incident':
      return ofService(
        sql`select id, title as name, service_id, status, resolved_at, concat('#', number, ' ', status) as label,
            ${fold(sql`concat(title, E'\n#', number, ' ', status)`)} as folded from incidents where org_id = ${orgId}
          order by triggered_at desc, id desc limit ${LOOKED_THROUGH_MAX}`,
        search,
        sql`concat(t.label, ' ', s.name)`,
        sql`(t.status <> 'resolved' or t.resolved_at >= ${daysBefore(now, sql`s.retention_oncall`)})`,
      );
    case 'dashboard':
      return holdingAll(
        sql`select d.id, d.name, s.name as detail, ${fold(sql`concat_ws(E'\n', d.name, s.name)`)} as folded
          from dashboards d left join services s on s.id = d.service_id
          where d.org_id = ${orgId} and s.deleted_at is null`,
        search,
      );
    case 'person':
      return holdingAll(
        sql`select u.id, u.name, u.email as detail, ${fold(sql`concat_ws(E'\n', u.name, u.email)`)} as folded
          from memberships m join users u on u.id = m.user_id where m.org_id = ${orgId}`,
        search,
      );
    case 'team':
      return holdingAll(
        sql`select id, name, null::text as detail, ${fold(sql`name`)} as folded from teams where org_id = ${orgId}`,
        search,
      );
    case 'schedule':
      return ofTeam(sql`schedules`, search);
    case 'policy':
      return ofTeam(sql`escalation_policies`, search);
  }
}

/** Selects those of the things that hold all words; without `offset`, each word would fold the text again. */
function holdingAll(things: Sql, { words }: Search): Sql {
  const holds = words.map((word) => sql`t.folded like ${holding(word)}`);
  return sql`select id, name, detail, folded from (${things} offset 0) t where ${sql.join(holds, sql` and `)}`;
}

/** Selects those of the things of services that hold all words, themselves or in the name of their service. */
function ofService(things: Sql, { words }: Search, detail: Sql = sql`s.name`, condition: Sql = sql`true`): Sql {
  const holds = words.map(
    (word, index) => sql`(t.folded like ${holding(word)}
      or t.service_id in (select id from matched where place = ${index + 1}))`,
  );
  return sql`select t.id, t.name, ${detail} as detail, t.folded from (${things} offset 0) t
    join services s on s.id = t.service_id and s.deleted_at is null
    where ${condition} and ${sql.join(holds, sql` and `)}`;
}

function ofTeam(table: Sql, search: Search): Sql {
  return holdingAll(
    sql`select c.id, c.name, t.name as detail, ${search.fold(sql`concat_ws(E'\n', c.name, t.name)`)} as folded
      from teams t join ${table} c on c.team_id = t.id where t.org_id = ${search.orgId}`,
    search,
  );
}

/** Folding only ASCII letters takes half of the time, and suffices for words of ASCII letters. */
function foldFor(words: readonly string[]): Search['fold'] {
  const isAscii = words.every((word) => /^[ -~]*$/.test(word));
  return (column) => (isAscii ? sql`lower(${column} collate "C")` : sql`lower(${column})`);
}

/** Returns the pattern of texts that hold the word. */
function holding(word: string): string {
  return `%${escaped(word)}%`;
}

function escaped(word: string): string {
  return word.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
