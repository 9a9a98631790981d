import { pipeline } from 'node:stream/promises';

import { Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

import { AppError } from '#kernel/errors.ts';

/** Tables that belong to this database only and are not backed up: a restore rebuilds their content. */
const NOT_BACKED_UP: ReadonlySet<string> = new Set(['migrations', 'migrated_by', 'spooled_data', 'restore_under_way']);

export interface StoredTable {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Opens a separate session, without the timeouts of requests. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: 'tocsin-backup', keepAlive: true });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Lists every table of the product; tables that others refer to come first. */
export async function listTables(client: Client): Promise<StoredTable[]> {
  const { rows: tables } = await client.query<{ table: string; columns: string[] }>(`
    select c.relname::text as table, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname`);
  const { rows: references } = await client.query<{ table: string; target: string }>(`
    select s.relname::text as table, t.relname::text as target
    from pg_constraint k join pg_class s on s.oid = k.conrelid join pg_class t on t.oid = k.confrelid
    where k.contype = 'f' and s.relnamespace = 'public'::regnamespace`);
  return inOrder(
    tables.filter(({ table }) => !NOT_BACKED_UP.has(table)),
    references,
  );
}

function inOrder(
  tables: readonly StoredTable[],
  references: readonly { readonly table: string; readonly target: string }[],
): StoredTable[] {
  const targets = Map.groupBy(references, ({ table }) => table);
  const byName = new Map(tables.map((table) => [table.table, table]));
  const ordered = new Set<StoredTable>();
  const visit = (table: StoredTable, path: ReadonlySet<string>): void => {
    if (ordered.has(table) || path.has(table.table)) return;
    for (const { target } of targets.get(table.table) ?? []) {
      const referred = byName.get(target);
      if (referred !== undefined) visit(referred, new Set([...path, table.table]));
    }
    ordered.add(table);
  };
  for (const table of tables) visit(table, new Set());
  return [...ordered];
}

/** Reads the rows as COPY writes them, in the transaction of the client. */
export function readRows(client: Client, { table, columns }: StoredTable, where = ''): AsyncIterable<Buffer> {
  const source =
    where === '' ? `${quote(table)} (${list(columns)})` : `(select ${list(columns)} from ${quote(table)} ${where})`;
  return client.query(copyTo(`copy ${source} to stdout`));
}

/** Writes the rows in the transaction of the client; returns once all of them are written. */
export async function writeRows(
  client: Client,
  { table, columns }: StoredTable,
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  await pipeline(rows, client.query(copyFrom(`copy ${quote(table)} (${list(columns)}) from stdin`)));
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function list(columns: readonly string[]): string {
  return columns.map(quote).join(', ');
}

/** Deletes every row that a backup would contain. */
export async function emptyAll(client: Client): Promise<void> {
  const tables = await listTables(client);
  if (tables.length > 0) await client.query(`truncate ${tables.map(({ table }) => quote(table)).join(', ')}`);
}

/** Reads the last number of each sequence. Sequences are not part of a snapshot, so no number is given twice. */
export async function readSequences(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(`
    select sequencename::text as name, last_value::text as value from pg_sequences
    where schemaname = 'public' and last_value is not null`);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Sets the sequences. Throws `invalid_input` if one is not a sequence of the product. */
export async function writeSequences(client: Client, values: Readonly<Record<string, string>>): Promise<void> {
  const sequences = new Set((await listSequences(client)).map(({ name }) => name));
  for (const [name, value] of Object.entries(values)) {
    if (!sequences.has(name) || !isSequenceValue(value)) {
      throw new AppError(
        'invalid_input',
        'the backup is not as it was written: it has a sequence that no database has',
      );
    }
    await client.query('select setval(to_regclass($1), $2::bigint)', [`public.${quote(name)}`, value]);
  }
}

export function isSequenceValue(value: string): boolean {
  return /^[1-9]\d{0,15}$/.test(value);
}

/** Moves every sequence past the greatest number in its column, whatever its stored value. */
export async function continueSequences(client: Client): Promise<void> {
  for (const { name, table, column } of await listSequences(client)) {
    await client.query(
      `select setval(to_regclass($1), greatest(max(${quote(column)}), s.last_value))
       from public.${quote(table)}, public.${quote(name)} s group by s.last_value having max(${quote(column)}) > s.last_value`,
      [`public.${quote(name)}`],
    );
  }
}

async function listSequences(client: Client): Promise<{ name: string; table: string; column: string }[]> {
  const { rows } = await client.query<{ name: string; table: string; column: string }>(`
    select s.relname::text as name, t.relname::text as table, a.attname::text as column
    from pg_class s join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
      join pg_class t on t.oid = d.refobjid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace`);
  return rows;
}

/** Throws `invalid_input` if the table is not one of the product, or has columns that the product's table lacks. */
export function requireKnown({ table, columns }: StoredTable, tables: readonly StoredTable[]): void {
  const described = tables.find((candidate) => candidate.table === table);
  if (described !== undefined && columns.every((column) => described.columns.includes(column))) return;
  throw new AppError(
    'invalid_input',
    'the backup is not as it was written: it has a table or a column that no database has',
  );
}

/** Returns the names of the migrations applied to a database; none for an empty one. */
export async function readMigrations(client: Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ table: string | null }>(
    `select to_regclass('public.migrations')::text as table`,
  );
  if (tables[0]?.table == null) return [];
  const { rows } = await client.query<{ name: string }>('select name from public.migrations order by name');
  return rows.map(({ name }) => name);
}

/**
 * Enables or disables triggers. While rows are copied, triggers must not write rows of their own: the audit log, say,
 * is linked already. Foreign keys and checks still apply.
 */
export async function setTriggers(client: Client, state: 'enable' | 'disable'): Promise<void> {
  const { rows } = await client.query<{ table: string }>(`
    select distinct c.relname::text as table from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and c.relnamespace = 'public'::regnamespace order by 1`);
  for (const { table } of rows) await client.query(`alter table public.${quote(table)} ${state} trigger user`);
}

/** Drops the tables and functions that migrations create, and nothing else. */
export async function dropSchema(client: Client): Promise<void> {
  await client.query(`
    do $$ declare one record; begin
      for one in select c.oid::regclass as name from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'restore_under_way'
          and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      loop execute format('drop table if exists %s cascade', one.name); end loop;
      for one in select p.oid::regprocedure as name from pg_proc p
        where p.pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      loop execute format('drop function if exists %s cascade', one.name); end loop;
    end $$`);
}
