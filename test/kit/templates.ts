import pg from 'pg';

import { migrateEvents, migratePostgresAndQueue } from '#entry/migrate.ts';
import type { ClickHouseAddress } from '#storage/clickhouse/address.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';

/** Name of the databases, of either kind, that all others are copies of. */
export const TEMPLATE = 'tocsin_template';

/** Name of the file, in the folder of a run, that has a byte for each composition of the application. */
export const COMPOSITIONS = 'compositions';

/** The same URL with another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Facts for copying the templates, and for making a used copy like a new one again. */
export interface Templates {
  /** Changes with every table, column, constraint, trigger and function. */
  readonly postgresSchema: string;
  /** Id of a transaction behind the migrations. */
  readonly postgresMigratedAt: string;
  /** Writes the rows and sequences that migrations left. */
  readonly postgresRows: string;
  /** Make the tables in the database of that name anew, in order. */
  readonly clickhouseStatements: readonly string[];
  readonly clickhouseSchema: string;
}

/** Migrates a database of either kind. */
export async function makeTemplates(postgresUrl: string, clickhouse: ClickHouseAddress): Promise<Templates> {
  return { ...(await makePostgresTemplate(postgresUrl)), ...(await makeClickHouseTemplate(clickhouse)) };
}

async function makePostgresTemplate(
  url: string,
): Promise<Pick<Templates, 'postgresSchema' | 'postgresMigratedAt' | 'postgresRows'>> {
  await withPostgres(url, (admin) => admin.query(`create database ${TEMPLATE}`));
  const databaseUrl = withDatabase(url, TEMPLATE);
  await migratePostgresAndQueue({ databaseUrl, redisUrl: undefined });
  return await withPostgres(databaseUrl, async (client) => {
    const { rows: transactions } = await client.query<{ id: string }>('select pg_current_xact_id()::xid::text as id');
    const migratedAt = transactions[0]!.id;
    const { schema, tables } = await postgresState(client, migratedAt);
    const statements: string[] = [];
    for (const table of tables) {
      const { rows } = await client.query<{ json: string | null }>(`select json_agg(t)::text as json from ${table} t`);
      const json = rows[0]?.json ?? null;
      if (json === null) continue;
      const values = `json_populate_recordset(null::${table}, ${client.escapeLiteral(json)})`;
      statements.push(`insert into ${table} overriding system value select * from ${values}`);
    }
    const { rows } = await client.query<{ statement: string }>(
      `select format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as statement
       from pg_sequences where last_value is not null`,
    );
    return {
      postgresSchema: schema,
      postgresMigratedAt: migratedAt,
      postgresRows: [...statements, ...rows.map(({ statement }) => statement)].join(';'),
    };
  });
}

/** Statements are far quicker than the migrations; views come behind the tables that they read. */
async function makeClickHouseTemplate(
  server: ClickHouseAddress,
): Promise<Pick<Templates, 'clickhouseStatements' | 'clickhouseSchema'>> {
  return await withClickHouse(server, async (client) => {
    await client.command({ query: `CREATE DATABASE ${TEMPLATE}` });
    await migrateEvents({ ...server, clickhouseUrl: withDatabase(server.clickhouseUrl, TEMPLATE) });
    const tables = await client.query({
      query: `SELECT create_table_query FROM system.tables WHERE database = '${TEMPLATE}'
        ORDER BY engine = 'MaterializedView', name`,
      format: 'JSONCompactEachRow',
    });
    return {
      clickhouseStatements: (await tables.json<[string]>()).map(([statement]) => statement),
      clickhouseSchema: await clickhouseSchema(client, TEMPLATE),
    };
  });
}

const CATALOGS: readonly (readonly [name: string, id: string])[] = [
  ['pg_class', 'oid'],
  ['pg_attribute', 'attrelid'],
  ['pg_constraint', 'oid'],
  ['pg_trigger', 'oid'],
  ['pg_proc', 'oid'],
];

/** SQL that counts the rows of the catalogs that migrations made, and those written since a transaction. */
const postgresSchema = (since: string): string =>
  `concat_ws(' ', ${CATALOGS.map(
    ([catalog, id]) =>
      `(select count(*) || ':' || count(*) filter (where age(xmin) < age('${since}'::xid)) from ${catalog} where ${id} >= 16384)`,
  ).join(', ')})`;

interface PostgresState {
  readonly schema: string;
  readonly sessions: number;
  /** Tables with rows, or with the room of rows that are gone. */
  readonly tables: readonly string[];
  /** Tables whose rows, or the room of deleted ones, take half a megabyte. */
  readonly large: readonly string[];
  /** Statements that put sequences that were used back to their start. */
  readonly restarts: readonly string[];
}

const postgresStateSql = (since: string): string => `select ${postgresSchema(since)} as schema,
  (select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as sessions,
  array(
    select format('select setval(%L, %s, false)', format('%I.%I', schemaname, sequencename), start_value)
    from pg_sequences where last_value is not null
  ) as restarts,
  coalesce(array_agg(name) filter (where bytes >= 524288), '{}') as large,
  coalesce(array_agg(name) filter (where bytes > 0), '{}') as tables
  from (
    select format('%I.%I', nspname, relname) as name, pg_relation_size(pg_class.oid) as bytes
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema')
  ) as own`;

/** `since` is a transaction after the migrations: in a copied database, rows of the catalogs are those of its template. */
export async function postgresState(client: pg.Client, since: string): Promise<PostgresState> {
  return (await client.query<PostgresState>({ name: 'state', text: postgresStateSql(since) })).rows[0]!;
}

/** Changes with every table, and with the number of migrations. */
export async function clickhouseSchema(client: ClickHouseClient, database: string): Promise<string> {
  const result = await client.query({
    query: `SELECT name, toString(cityHash64(
        replaceAll(create_table_query, database, ''), if(name = 'migrations', total_rows, 0))) AS hash
      FROM system.tables WHERE database = '${database}' ORDER BY name`,
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[name: string, hash: string]>()).join();
}

export async function withPostgres<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function withClickHouse<Result>(
  address: ClickHouseAddress,
  work: (client: ClickHouseClient) => Promise<Result>,
): Promise<Result> {
  const client = openClickHouse(address);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
