import { randomUUID } from 'node:crypto';

import { linesOfFile, parseLine } from '#entry/transfer/json_lines.ts';
import type { MovedIds } from '#entry/transfer/moved_ids.ts';
import { ORGANIZATION_TABLES, type OrganizationTable } from '#entry/transfer/organization_tables.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { Session, Sql } from '#storage/postgres/database.ts';

interface Arriving {
  readonly folder: string;
  readonly ids: MovedIds;
  /** The organization's id in the export. */
  readonly orgId: string;
  readonly now: Temporal.Instant;
}

type Row = Readonly<Record<string, unknown>>;

const BATCH = 500;

/** Inserts every row in the transaction of the session. Throws for a row that belongs to somebody else. */
export async function importRows({ sql }: Pick<Session, 'sql'>, arriving: Arriving): Promise<void> {
  for (const table of ORGANIZATION_TABLES) {
    const columns = await readColumns(sql, table.table);
    let batch: Row[] = [];
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await insert(sql, table.table, columns, batch);
      batch = [];
    };
    for await (const line of linesOfFile(arriving.folder, `${table.table}.jsonl`)) {
      const sent = parseLine(table.table, line);
      requireOwn(table, sent, arriving);
      const row = adapted(table.table, parseLine(table.table, arriving.ids.apply(line)), arriving);
      if (row !== null) batch.push(row);
      if (batch.length >= BATCH) await flush();
    }
    await flush();
    if (table.table === 'incidents') await continueNumbers(sql, arriving);
  }
}

/** What a row refers to is in the export: a file that was made up cannot reach into other organizations. */
function requireOwn({ table, refersTo = [] }: OrganizationTable, row: Row, { ids, orgId }: Arriving): void {
  const owner = table === 'organizations' ? row['id'] : row['org_id'];
  const strange = refersTo.find((column) => {
    const named = row[column];
    return named != null && !(typeof named === 'string' && ids.own.has(named));
  });
  if ((owner === undefined || owner === orgId) && strange === undefined) return;
  throw new AppError(
    'invalid_input',
    strange === undefined
      ? `${table}.jsonl has a row of another organization`
      : `${table}.jsonl has a row whose ${strange} is not in the export`,
  );
}

const ENDED = 'imported';

/** Null for a row that is here already: somebody with an account. */
function adapted(table: string, row: Row, { ids, now }: Arriving): Row | null {
  switch (table) {
    case 'users':
      return ids.own.has(String(row['id'])) && !isKnown(row, ids) ? row : null;
    case 'incident_steps':
      return row['state'] === 'pending'
        ? { ...row, state: 'cancelled', reason: ENDED, settled_at: toTimestamp(now) }
        : row;
    case 'notifications':
      return ['queued', 'sending'].includes(String(row['status']))
        ? { ...row, status: 'cancelled', reason: ENDED, due_at: null, lease_until: null }
        : row;
    case 'event_feedback':
      return { ...row, id: randomUUID() };
    default:
      return row;
  }
}

/** An id that another one has become is that of an account here. */
function isKnown(row: Row, ids: MovedIds): boolean {
  return ids.isOfAnother(String(row['id']));
}

async function readColumns(sql: Sql, table: string): Promise<ReadonlySet<string>> {
  const rows = await sql.rows<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [`public.${table}`],
  );
  return new Set(rows.map(({ name }) => name));
}

async function insert(sql: Sql, table: string, columns: ReadonlySet<string>, rows: readonly Row[]): Promise<void> {
  const given = Object.keys(rows[0] ?? {}).filter((column) => columns.has(column));
  const names = given.map((column) => `"${column}"`).join(', ');
  const conflict = table === 'users' ? 'on conflict do nothing' : '';
  await sql.run(
    `insert into public.${table} (${names}) overriding system value
     select ${names} from json_populate_recordset(null::public.${table}, $1::json) ${conflict}`,
    [JSON.stringify(rows)],
  );
}

/** People know the numbers that incidents had: those that are opened here continue from the greatest. */
async function continueNumbers(sql: Sql, { ids, orgId }: Arriving): Promise<void> {
  await sql.run(
    `insert into incident_numbers as n
     select org_id, max(number) from incidents where org_id = $1 group by org_id
     on conflict (org_id) do update set last = greatest(n.last, excluded.last)`,
    [ids.to(orgId)],
  );
}
