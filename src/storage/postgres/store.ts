import { type EntitySchemaWithMeta, JsonType } from '@mikro-orm/core';
import type { InferKyselyTable, SnakeCase } from '@mikro-orm/postgresql';
import {
  type AliasedRawBuilder,
  type Compilable,
  CompiledQuery,
  DeleteResult,
  type Expression,
  InsertResult,
  type Kysely,
  type RawBuilder,
  type Selectable,
  sql,
  type UpdateResult,
} from 'kysely';

import { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { instantText, toParameter } from '#storage/postgres/query_compiler.ts';
import type { Json, Tables, Written } from '#storage/postgres/tables.ts';

/** A store over one session: what it changes commits or vanishes with what the session's other stores change. */
export class PostgresStore {
  protected readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  /** Builder of queries in the transaction of the session. */
  protected get db(): Session['db'] {
    return this.session.db;
  }

  /** Queries in the transaction of the session, by their first word. */
  protected get selectFrom(): Session['db']['selectFrom'] {
    return this.db.selectFrom.bind(this.db);
  }

  protected get insertInto(): Session['db']['insertInto'] {
    return this.db.insertInto.bind(this.db);
  }

  protected get updateTable(): Session['db']['updateTable'] {
    return this.db.updateTable.bind(this.db);
  }

  protected get deleteFrom(): Session['db']['deleteFrom'] {
    return this.db.deleteFrom.bind(this.db);
  }

  /** The unit of work for entities. */
  protected get em(): Session['em'] {
    return this.session.em;
  }
}

/** A row of the entity's table, with the entity's names. */
export type Row<E extends EntitySchemaWithMeta> = Readonly<
  Selectable<InferKyselyTable<E, { columnNamingStrategy: 'property' }>>
>;

/**
 * `alias.column_name as columnName` of the named properties of an entity, or of all of them: selects a `Row`, or as much
 * of one.
 */
export function columns<E extends EntitySchemaWithMeta, A extends string, P extends keyof Row<E> & string>(
  entity: E,
  alias: A,
  properties: readonly P[] = Object.keys(entity.properties) as P[],
): readonly Selection<A, P>[] {
  return properties.map((property) => `${alias}.${columnOf(property)} as ${property}` as Selection<A, P>);
}

type Selection<A extends string, P extends string> = P extends string ? `${A}.${SnakeCase<P>} as ${P}` : never;

/** The properties of an entity but for some: what `columns` is given for an `Omit` of its `Row`. */
export function allBut<E extends EntitySchemaWithMeta, P extends keyof Row<E> & string>(
  entity: E,
  ...left: readonly P[]
): readonly Exclude<keyof Row<E> & string, P>[] {
  const isLeft = (property: string) => (left as readonly string[]).includes(property);
  return Object.keys(entity.properties).filter((property) => !isLeft(property)) as Exclude<keyof Row<E> & string, P>[];
}

/** Returns the names of all columns, in the order of `columns`. */
export function columnNames<E extends EntitySchemaWithMeta>(entity: E): readonly SnakeCase<keyof Row<E> & string>[] {
  return Object.keys(entity.properties).map((property) => columnOf(property) as SnakeCase<keyof Row<E> & string>);
}

/** Returns the argument of `values` and `set` for these properties of an entity: by column, JSON as its text. */
export function toColumns<E extends EntitySchemaWithMeta, const V extends Partial<Row<E>>>(
  entity: E,
  values: V & Record<Exclude<keyof V, keyof Row<E>>, never>,
): { [P in keyof V & string as SnakeCase<P>]: Written<V[P]> } {
  const columnValues = Object.entries<unknown>(values).map(([property, value]) => [
    columnOf(property),
    value !== null && value !== undefined && isJson(entity, property) ? json(value) : value,
  ]);
  return Object.fromEntries(columnValues) as { [P in keyof V & string as SnakeCase<P>]: Written<V[P]> };
}

function isJson(entity: EntitySchemaWithMeta, property: string): boolean {
  const { type, customType } = entity.properties[property] as { type: unknown; customType?: unknown };
  return type === JsonType || customType instanceof JsonType;
}

const names = new Map<string, string>();

function columnOf(property: string): string {
  let name = names.get(property);
  if (name === undefined) {
    name = property.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
    names.set(property, name);
  }
  return name;
}

export function json<T>(value: T): Json<T> {
  return JSON.stringify(value) as Json<T>;
}

/** A statement takes 65,535 parameters: one for each value of each row that it inserts. */
const ROWS_AT_ONCE = 500;

/** Returns the rows in slices, each of which fits into one `values` whatever columns they have; none for no rows. */
export function insertSlices<R>(rows: readonly R[]): R[][] {
  const count = Math.ceil(rows.length / ROWS_AT_ONCE);
  return Array.from({ length: count }, (_, nth) => rows.slice(nth * ROWS_AT_ONCE, (nth + 1) * ROWS_AT_ONCE));
}

/**
 * Builds the operand of `where(column, '=', anyOf(values))`: one parameter however many values there are. An empty list
 * matches nothing.
 */
export function anyOf<T>(values: readonly T[] | Expression<readonly T[]>): Expression<T> {
  return sql<T>`any(${values})`;
}

/** A field of a `json` column as text; null where it is absent, or null. */
export function field<T extends string>(column: Expression<object | null>, name: string): RawBuilder<T | null> {
  return sql<T | null>`${column}->>${sql.lit(name)}`;
}

/** Returns the time `days` times 24 hours before `now`. */
export function daysBefore(
  now: Temporal.Instant | Expression<Temporal.Instant>,
  days: Expression<number>,
): RawBuilder<Temporal.Instant> {
  return sql<Temporal.Instant>`${now}::timestamptz - make_interval(hours => 24 * ${days})`;
}

/** Formats a time as `toTimestamp` does. */
export function timestamp(at: Expression<Temporal.Instant>): RawBuilder<string> {
  return timestampOrNull(at).$notNull();
}

export function timestampOrNull(at: Expression<Temporal.Instant | null>): RawBuilder<string | null> {
  return sql<string | null>`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

type ColumnValues = readonly [
  type: 'text' | 'integer' | 'bigint' | 'boolean' | 'bytea' | 'date' | 'json' | 'timestamptz',
  values: readonly unknown[] | Expression<readonly unknown[]>,
];

type ValueIn<C extends ColumnValues> = C[1] extends readonly (infer Value)[]
  ? Value
  : C[1] extends Expression<readonly (infer Value)[]>
    ? Value
    : never;

/**
 * Rows that stand in the statement, as a table to select from or join: one parameter a column, however many rows there
 * are. All columns have as many values as there are rows.
 */
export function rowsOf<A extends string, C extends Readonly<Record<string, ColumnValues>>>(
  alias: A,
  byColumn: C,
): AliasedRawBuilder<{ [N in keyof C]: ValueIn<C[N]> }, A> {
  const entries = Object.entries(byColumn);
  const arrays = sql.join(entries.map(([, [type, values]]) => sql`${values}::${sql.raw(type)}[]`));
  const names = sql.join(entries.map(([name]) => sql.id(name)));
  return sql<{ [N in keyof C]: ValueIn<C[N]> }>`unnest(${arrays})`.as<A>(sql`${sql.id(alias)}(${names})`);
}

declare const recorded: unique symbol;

/** Rows of an entity as one text, for `recordsOf`. */
export type Records<V> = string & { readonly [recorded]: V };

/** All rows have the same properties, none of them bytes. */
export function toRecords<V extends Readonly<Record<string, unknown>>>(rows: readonly V[]): Records<V> {
  const names = Object.keys(rows[0] ?? {}).map((property) => [property, columnOf(property)] as const);
  const records = rows.map((row) => {
    const record: Record<string, unknown> = {};
    for (const [property, name] of names) {
      const value = row[property];
      record[name] = value instanceof Temporal.Instant ? instantText(value) : value;
    }
    return record;
  });
  return wellFormedJson(records) as Records<V>;
}

/** Returns rows of an entity, written by `toRecords`, as a table to select from: one parameter, however many rows and columns. */
export function recordsOf<A extends string, E extends EntitySchemaWithMeta, V extends Partial<Row<E>>>(
  alias: A,
  entity: E,
  records: Records<V> | Expression<Records<V>>,
): AliasedRawBuilder<{ [P in keyof V & string as SnakeCase<P>]: V[P] }, A> {
  return sql<{
    [P in keyof V & string as SnakeCase<P>]: V[P];
  }>`json_populate_recordset(null::${sql.table(entity.tableName)}, ${records}::json)`.as(alias);
}

/** PostgreSQL refuses half a surrogate pair, which a text cut short may end in. JSON writes nothing else as `\\ud…`. */
function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_name, part: unknown) => (typeof part === 'string' ? part.toWellFormed() : part));
}

/** Returns the number of rows that a statement without `returning` has inserted, updated or deleted. */
export function rowsChanged([result]: readonly (InsertResult | UpdateResult | DeleteResult)[]): number {
  if (result === undefined) return 0;
  if (result instanceof InsertResult) return Number(result.numInsertedOrUpdatedRows ?? 0);
  return Number(result instanceof DeleteResult ? result.numDeletedRows : result.numUpdatedRows);
}

/** Takes the lock of this name in shared mode until the transaction ends; waits for whoever holds it alone (`holdLock`). */
export async function shareLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock_shared', name);
}

/** Waits for the lock of this name and holds it until the transaction ends. */
export async function holdLock({ db }: Pick<Session, 'db'>, name: string): Promise<void> {
  await lock(db, 'pg_advisory_xact_lock', name);
}

/** Waits for each of these locks, in the order of their names, and holds them until the transaction ends. */
export async function holdLocks({ db }: Pick<Session, 'db'>, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names)].toSorted();
  const [only, ...others] = wanted;
  if (only === undefined) return;
  if (others.length === 0) return await holdLock({ db }, only);
  await db
    .selectFrom(rowsOf('w', { name: ['text', wanted] }))
    .select(({ fn, ref, lit }) =>
      fn('pg_advisory_xact_lock', [fn('hashtextextended', [ref('w.name'), lit(0)])]).as('held'),
    )
    .execute();
}

async function lock(db: Session['db'], how: string, name: string): Promise<void> {
  await db
    .selectNoFrom(({ fn, val, lit }) => fn(how, [fn('hashtextextended', [val(name), lit(0)])]).as('held'))
    .execute();
}

/** Placeholders for the values of a prepared query while it is built. */
export type Values<V> = { readonly [N in keyof V]: Expression<Exclude<V[N], undefined>> };

/** A query that was built once and takes its values when it runs. */
interface Prepared<V, Row> {
  rows(session: Pick<Session, 'db'>, values: V): Promise<Row[]>;
  /** The first row, or null. */
  row(session: Pick<Session, 'db'>, values: V): Promise<Row | null>;
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Prepares a query that runs for every request, event or page: building and compiling one takes 20 to 60 µs of the
 * processor, which is as much again as running it; a prepared one takes 2 µs, as SQL in a string does. It is built once
 * for each set of values that are not undefined: the others are undefined while it is built, too.
 */
export function prepared<V extends object, Row>(
  build: (db: Kysely<Tables>, values: Values<V>) => Compilable<Row>,
): Prepared<V, Row> {
  const built = new Map<string, { readonly sql: string; readonly parameters: readonly unknown[] }>();
  const execute = async ({ db }: Pick<Session, 'db'>, values: V): Promise<Row[]> => {
    const names = namesOf(values);
    let compiled = built.get(names);
    if (compiled === undefined) {
      compiled = build(db, placeholders(values)).compile();
      built.set(names, compiled);
    }
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? toParameter(values[parameter.name as keyof V]) : parameter,
    );
    return (await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters))).rows;
  };
  return { rows: execute, row: async (session, values) => (await execute(session, values))[0] ?? null };
}

function namesOf(values: object): string {
  let names = '';
  for (const [name, value] of Object.entries(values)) if (value !== undefined) names += `${name} `;
  return names;
}

function placeholders<V extends object>(values: V): Values<V> {
  return new Proxy({} as Values<V>, {
    get: (_, name) => (Reflect.get(values, name) === undefined ? undefined : sql`${new Placeholder(String(name))}`),
  });
}
