import { type Compilable, CompiledQuery, type Expression, type Kysely, sql } from 'kysely';

import type { Session } from '#storage/postgres/database.ts';
import { toParameter } from '#storage/postgres/query_compiler.ts';
import type { Tables } from '#storage/postgres/tables.ts';

/** Placeholders for the values of a prepared query while it is built. */
export type Values<V> = { readonly [N in keyof V]: Expression<V[N]> };

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
 * processor, which is as much again as running it; a prepared one takes 2 µs, as SQL in a string does.
 */
export function prepared<V extends object, Row>(
  build: (db: Kysely<Tables>, values: Values<V>) => Compilable<Row>,
): Prepared<V, Row> {
  let compiled: { readonly sql: string; readonly parameters: readonly unknown[] } | null = null;
  const execute = async ({ db }: Pick<Session, 'db'>, values: V): Promise<Row[]> => {
    compiled ??= build(db, placeholders()).compile();
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? toParameter(values[parameter.name as keyof V]) : parameter,
    );
    return (await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters))).rows;
  };
  return { rows: execute, row: async (session, values) => (await execute(session, values))[0] ?? null };
}

function placeholders<V extends object>(): Values<V> {
  return new Proxy({} as Values<V>, { get: (_, name) => sql`${new Placeholder(String(name))}` });
}
