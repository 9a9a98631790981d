import { randomUUID } from 'node:crypto';

import { insertPart } from '#entry/backup/clickhouse_rows.ts';
import type { Row, TableColumn } from '#entry/transfer/check_row.ts';
import { type Line, linesOfFile, parseLine, refusedLine } from '#entry/transfer/json_lines.ts';
import type { MovedIds } from '#entry/transfer/moved_ids.ts';
import { EVENT_FILES, type EventTable, ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { errorCodeOf } from '#kernel/errors.ts';
import { asId, type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { Session, Sql } from '#storage/postgres/database.ts';

export interface ArrivingRows {
  readonly folder: string;
  readonly ids: MovedIds;
  /** The organization's id in the export. */
  readonly orgId: string;
  readonly columns: ReadonlyMap<string, readonly TableColumn[]>;
}

interface PlacedRow {
  readonly row: Row;
  readonly at: Pick<Line, 'file' | 'number'>;
}

const BATCH = 500;

/** Inserts every row of a checked folder in the transaction of the session. Throws for the first that does not fit. */
export async function importRows(
  { sql }: Pick<Session, 'sql'>,
  arriving: ArrivingRows,
  now: Temporal.Instant,
): Promise<void> {
  for (const { table } of ORGANIZATION_TABLES) {
    const columns = (arriving.columns.get(table) ?? []).map(({ name }) => name);
    let batch: PlacedRow[] = [];
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await insertAll(sql, table, columns, batch);
      batch = [];
    };
    for await (const line of linesOfFile(arriving.folder, `${table}.jsonl`)) {
      const text = arriving.ids.apply(JSON.stringify(parseLine(line)));
      const row = adapted(table, parseLine({ ...line, text }), arriving.ids, now);
      if (row !== null) batch.push({ row, at: { file: line.file, number: line.number } });
      if (batch.length >= BATCH) await flush();
    }
    await flush();
    if (table === 'incidents') await continueNumbers(sql, arriving);
    if (table === 'notifications') await forgetTakenMessages(sql, arriving);
  }
}

const ENDED = 'imported';

/** Returns the row as it is inserted; null for somebody with an account here, and for what goes on elsewhere. */
function adapted(table: string, row: Row, ids: MovedIds, now: Temporal.Instant): Row | null {
  switch (table) {
    case 'users':
      return ids.accounts.has(String(row['id'])) ? null : row;
    case 'incidents':
      // A maintenance that ends here pages nobody either.
      return row['suppressed_until'] == null ? row : { ...row, suppressed_until: null };
    case 'incident_steps':
      return row['state'] === 'pending'
        ? { ...row, state: 'cancelled', reason: ENDED, settled_at: toTimestamp(now) }
        : row;
    case 'notifications':
      return ['queued', 'sending'].includes(String(row['status']))
        ? { ...row, status: 'cancelled', reason: ENDED, due_at: null, lease_until: null }
        : row;
    case 'monitors':
      // Its job reports to the other installation until it is told of this one: the first report here begins anew.
      return { ...row, next_due_at: null, overdue_from: null };
    case 'monitor_runs':
      return row['status'] === 'in_progress' ? null : row;
    case 'proposals':
      // Its agent stays behind.
      return row['status'] === 'proposed' ? { ...row, expires_at: toTimestamp(now) } : row;
    case 'event_feedback':
      return { ...row, id: randomUUID() };
    default:
      return row;
  }
}

/** Inserts all rows in a few statements; if one is refused, row by row, to name the row that is. */
async function insertAll(
  sql: Sql,
  table: string,
  columns: readonly string[],
  rows: readonly PlacedRow[],
): Promise<void> {
  const attempt = async (some: readonly PlacedRow[]): Promise<unknown> => {
    await sql.run('savepoint imported_rows');
    try {
      await insert(
        sql,
        table,
        columns,
        some.map(({ row }) => row),
      );
      await sql.run('release savepoint imported_rows');
      return null;
    } catch (error) {
      await sql.run('rollback to savepoint imported_rows');
      return error;
    }
  };
  const refused = await attempt(rows);
  if (refused === null) return;
  for (const row of rows) {
    const error = await attempt([row]);
    if (error !== null) throw refusedLine(row.at, refusalOf(error));
  }
  throw refused;
}

/** Messages by the class or the code of the PostgreSQL error; its own text holds values of the row. */
const REFUSALS: readonly (readonly [code: string, what: string])[] = [
  ['23505', 'has the key of a row that stands in an earlier line, or is here already'],
  ['23503', 'refers to something that is not in the export'],
  ['23', 'has values that no row has together'],
  ['22', 'has a value that cannot be stored'],
];

function refusalOf(error: unknown): string {
  const code = String(errorCodeOf(error) ?? errorCodeOf((error as { cause?: unknown }).cause));
  const refusal = REFUSALS.find(([start]) => code.startsWith(start));
  if (refusal === undefined) throw error;
  return refusal[1];
}

async function insert(sql: Sql, table: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
  const first = rows[0] ?? {};
  const names = columns
    .filter((column) => Object.hasOwn(first, column))
    .map((column) => `"${column}"`)
    .join(', ');
  await sql.run(
    `insert into public.${table} (${names})
     select ${names} from json_populate_recordset(null::public.${table}, $1::json)`,
    [JSON.stringify(rows)],
  );
}

/** Clears provider ids that a message of another organization has: the provider reports about the message sent here. */
async function forgetTakenMessages(sql: Sql, { ids, orgId }: ArrivingRows): Promise<void> {
  await sql.run(
    `update notifications as n set provider_id = null
     where org_id = $1 and exists (select from notifications o where o.provider_id = n.provider_id and o.org_id <> $1)`,
    [ids.to(orgId)],
  );
}

/** Continues the numbers of incidents from the greatest imported one, because people know the old numbers. */
async function continueNumbers(sql: Sql, { ids, orgId }: ArrivingRows): Promise<void> {
  await sql.run(
    `insert into incident_numbers as n
     select org_id, max(number) from incidents where org_id = $1 group by org_id
     on conflict (org_id) do update set last = greatest(n.last, excluded.last)`,
    [ids.to(orgId)],
  );
}

/** Size of one insert, in bytes. */
const PART_BYTES = 32 * 1024 * 1024;

/** Stores points and events of a checked folder under the ids that their services and groups have here. */
export async function importEvents(clickhouse: ClickHouseClient, folder: string, ids: MovedIds): Promise<void> {
  for (const table of Object.keys(EVENT_FILES) as EventTable[]) {
    const { file, columns } = EVENT_FILES[table];
    const format = file.endsWith('.csv') ? 'CSV' : 'JSONEachRow';
    const part = { table, columns: columns.split(', '), format } as const;
    let lines: Buffer[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (lines.length > 0) await insertPart(clickhouse, part, lines);
      lines = [];
      bytes = 0;
    };
    let isHead = format === 'CSV';
    for await (const line of linesOfFile(folder, file)) {
      if (isHead) {
        isHead = false;
        continue;
      }
      const moved = Buffer.from(`${format === 'CSV' ? movedPoint(line.text, ids) : movedRow(line, ids)}\n`);
      lines.push(moved);
      bytes += moved.length;
      if (bytes >= PART_BYTES) await flush();
    }
    await flush();
  }
}

/** Deletes the rows of services that a failed import has stored. */
export async function deleteEvents(clickhouse: ClickHouseClient, services: readonly Id<'service'>[]): Promise<void> {
  const writers = [new MetricWriter(clickhouse), new ExceptionWriter(clickhouse)];
  for (const service of services) {
    for (const writer of writers) await writer.deleteService(service).catch(() => {});
  }
}

const UUID = /^"?([0-9a-f-]{36})"?,/;

function movedPoint(line: string, ids: MovedIds): string {
  return line.replace(UUID, (_, uuid: string) => `"${movedUuid('service', uuid, ids)}",`);
}

function movedRow(line: Line, ids: MovedIds): string {
  const row = parseLine(line) as { service_id: string; group_id?: string };
  const group = row.group_id === undefined ? {} : { group_id: movedUuid('group', row.group_id, ids) };
  return JSON.stringify({ ...row, service_id: movedUuid('service', row.service_id, ids), ...group });
}

function movedUuid(kind: 'service' | 'group', uuid: string, ids: MovedIds): string {
  return uuidOf(asId(kind, ids.to(idOfUuid(kind, uuid))));
}
