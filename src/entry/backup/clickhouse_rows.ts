import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { type DataTable, ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';

/** Table whose rows are backed up, and its division into parts that one insert takes. */
interface Source {
  readonly table: DataTable;
  /** Time column by whose hours the rows are divided; null to divide by the key alone. */
  readonly time: string | null;
  /** Key that divides the rows of one hour. */
  readonly key: string;
  /** Rough size of a row, in bytes. */
  readonly rowBytes: string;
}

const SOURCES: readonly Source[] = [
  { table: 'metric_series', time: null, key: 'series', rowBytes: '100 + length(toString(tags))' },
  { table: 'metric_names', time: null, key: 'metric', rowBytes: '50' },
  { table: 'metric_exemplars', time: 'at', key: 'trace_id', rowBytes: '150 + length(toString(tags))' },
  { table: 'metric_points', time: 'ts', key: 'series, ts', rowBytes: '42' },
  { table: 'exception_origins', time: null, key: 'group_id', rowBytes: '80' },
  { table: 'exception_events', time: 'at', key: 'event_id', rowBytes: '200 + length(payload)' },
];

/** Names of every table with rows, for a restore that begins anew. */
export const CLICKHOUSE_TABLES = SOURCES.map(({ table }) => table);

/** Size of a part, in bytes: well below the limit on the body of an insert, and small enough for a query to hold. */
const PART_BYTES = 48 * 1024 * 1024;

/** Rows of one query, and of one insert. */
export interface RowsPart {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: () => Promise<AsyncIterable<Buffer>>;
}

/** Yields all rows of all tables. Rows that arrive meanwhile may be included or not. */
export async function* readParts(client: ClickHouseClient): AsyncGenerator<RowsPart> {
  for (const source of SOURCES) {
    const columns = await readColumns(client, source.table);
    for (const condition of await divide(client, source)) {
      const query = `SELECT ${columns.join(', ')} FROM ${source.table} WHERE ${condition} FORMAT RowBinary`;
      yield { table: source.table, columns, rows: async () => (await client.exec({ query })).stream };
    }
  }
}

async function readColumns(client: ClickHouseClient, table: string): Promise<string[]> {
  const rows = await readJson<{ name: string }>(
    client,
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '${table}' AND default_kind = ''
     ORDER BY position`,
  );
  return rows.map(({ name }) => name);
}

/** Returns conditions that divide the table: each row meets exactly one of them. */
async function divide(client: ClickHouseClient, { table, time, key, rowBytes }: Source): Promise<string[]> {
  const hour = time === null ? '0' : `toUnixTimestamp(toStartOfHour(${time}))`;
  const hours = await readJson<{ hour: string; bytes: string }>(
    client,
    `SELECT ${hour} AS hour, sum(${rowBytes}) AS bytes FROM ${table} GROUP BY hour ORDER BY hour`,
  );
  const spans: Span[] = [];
  for (const row of hours) {
    const [to, bytes] = [Number(row.hour), Number(row.bytes)];
    const last = spans.at(-1);
    if (last === undefined || last.bytes + bytes > PART_BYTES) spans.push({ from: to, to, bytes });
    else spans.splice(-1, 1, { from: last.from, to, bytes: last.bytes + bytes });
  }
  return spans.flatMap((span) => conditionsOf(span, time, key));
}

/** Hours whose rows are read together. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

function conditionsOf({ from, to, bytes }: Span, time: string | null, key: string): string[] {
  const within = conditionOf(time, from, to);
  const count = Math.max(1, Math.ceil(bytes / PART_BYTES));
  if (count === 1) return [within];
  return Array.from({ length: count }, (_, nth) => `${within} AND cityHash64(${key}) % ${count} = ${nth}`);
}

function conditionOf(time: string | null, fromHour: number, toHour: number): string {
  if (time === null) return '1';
  return `${time} >= toDateTime64(${fromHour}, 3, 'UTC') AND ${time} < toDateTime64(${toHour + 3_600}, 3, 'UTC')`;
}

async function readJson<Row>(client: ClickHouseClient, query: string): Promise<Row[]> {
  return await (await client.query({ query, format: 'JSONEachRow' })).json<Row>();
}

interface InsertedPart {
  readonly table: string;
  readonly columns: readonly string[];
  readonly format?: 'RowBinary' | 'CSV' | 'JSONEachRow';
}

/** Inserts the rows; returns once they are durable. */
export async function insertPart(
  client: ClickHouseClient,
  { table, columns, format = 'RowBinary' }: InsertedPart,
  rows: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  const { stream } = await client.exec({
    query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT ${format}`,
    values: Readable.from(rows, { objectMode: false }),
    clickhouse_settings: { insert_deduplicate: 0, async_insert: 0, max_partitions_per_insert_block: '0' },
  });
  await text(stream);
}

/** Whether any table has a row. */
export async function hasRows(client: ClickHouseClient): Promise<boolean> {
  const tables = await readJson<{ name: string }>(
    client,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN (${CLICKHOUSE_TABLES.map((name) => `'${name}'`).join(', ')})`,
  );
  for (const { name } of tables) {
    if ((await readJson(client, `SELECT 1 FROM ${name} LIMIT 1`)).length > 0) return true;
  }
  return false;
}

export async function readClickHouseMigrations(client: ClickHouseClient): Promise<string[]> {
  const rows = await readJson<{ name: string }>(client, 'SELECT DISTINCT name FROM migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

export async function emptyTables(client: ClickHouseClient): Promise<void> {
  // Rollups are computed again from the restored points.
  for (const table of [...ROLLUP_TABLES, ...CLICKHOUSE_TABLES]) {
    const { stored, onCluster } = client.layout;
    await client.command({ query: `TRUNCATE TABLE IF EXISTS ${stored(table)}${onCluster}` });
  }
}
