import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { isJsonObject } from '#entry/transfer/check_folder.ts';
import { FAR_FUTURE, toTimestamp } from '#kernel/time.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
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

/** Contents of a column in RowBinary: of eight bytes any, a whole number of a list, or a text that is read further. */
type ColumnKind = 'uuid' | 'number' | 'time' | 'text' | 'tags' | 'level' | 'payload' | readonly string[];

const HANDLED = ['unknown', 'unhandled', 'handled'];

/** Columns of the tables of this release. */
export const ROW_COLUMNS: Readonly<Record<DataTable, Readonly<Record<string, ColumnKind>>>> = {
  metric_series: { service_id: 'uuid', metric: 'text', series: 'number', last_at: 'time', tags: 'tags' },
  metric_names: { service_id: 'uuid', metric: 'text', last_at: 'time' },
  metric_exemplars: {
    service_id: 'uuid',
    metric: 'text',
    at: 'time',
    trace_id: 'text',
    span_id: 'text',
    value: 'number',
    tags: 'tags',
  },
  metric_points: {
    service_id: 'uuid',
    metric: 'text',
    series: 'number',
    ts: 'time',
    value: 'number',
    kind: POINT_KINDS,
  },
  exception_origins: {
    service_id: 'uuid',
    release: 'text',
    environment: 'text',
    group_id: 'uuid',
    first_at: 'time',
    last_at: 'time',
  },
  exception_events: {
    service_id: 'uuid',
    group_id: 'uuid',
    event_id: 'uuid',
    at: 'time',
    received_at: 'time',
    level: 'level',
    environment: 'text',
    release: 'text',
    user_key: 'text',
    handled: HANDLED,
    tags: 'tags',
    payload: 'payload',
  },
};

const TEXT_BYTES_MAX = 800_000;
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;
const TAGS_MAX = 10_000;
const FAR_FUTURE_MS = BigInt(FAR_FUTURE.epochMilliseconds);

/** Thrown where a row goes on in bytes that are still to come. */
const INCOMPLETE = new Error('the row goes on');

/** A fault of a row, in words that follow `row 7: `. */
class RowFault extends Error {}

/** Reads rows in RowBinary up to the first that no operation would write, and says what is wrong with that. */
export async function findRowFault(
  { table, columns }: { readonly table: DataTable; readonly columns: readonly string[] },
  content: AsyncIterable<Buffer>,
): Promise<{ readonly row: number; readonly fault: string | null }> {
  const kinds = columns.map((name) => [name, ROW_COLUMNS[table][name] ?? 'text'] as const);
  let row = 1;
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of content) {
      const reader = new RowReader(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
      for (; !reader.isAtEnd && readRow(reader, kinds); row += 1);
      rest = reader.rest();
    }
  } catch (error) {
    if (error instanceof RowFault) return { row, fault: error.message };
    throw error;
  }
  return { row, fault: rest.length === 0 ? null : 'it is cut off' };
}

/** Reads one row; false if it goes on in bytes that are still to come. */
function readRow(reader: RowReader, columns: readonly (readonly [name: string, kind: ColumnKind])[]): boolean {
  try {
    for (const [name, kind] of columns) reader.column(name, kind);
    reader.endRow();
    return true;
  } catch (error) {
    if (error === INCOMPLETE) return false;
    throw error;
  }
}

class RowReader {
  readonly #bytes: Buffer;
  #at = 0;
  #rowAt = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  endRow(): void {
    this.#rowAt = this.#at;
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#rowAt);
  }

  column(name: string, kind: ColumnKind): void {
    if (typeof kind !== 'string') {
      if (this.#bytes.readUInt8(this.#take(1)) >= kind.length)
        throw new RowFault(`${name} must be one of ${kind.join(', ')}`);
      return;
    }
    switch (kind) {
      case 'uuid':
        this.#take(16);
        return;
      case 'number':
        this.#take(8);
        return;
      case 'time': {
        const ms = this.#bytes.readBigInt64LE(this.#take(8));
        if (ms >= 0n && ms <= FAR_FUTURE_MS) return;
        throw new RowFault(`${name} must be a time between 1970 and ${toTimestamp(FAR_FUTURE)}`);
      }
      case 'text':
        this.#text(name, TEXT_BYTES_MAX);
        return;
      case 'tags': {
        const count = this.#varint(name, TAGS_MAX);
        for (let texts = 2 * count; texts > 0; texts -= 1) this.#text(name, TEXT_BYTES_MAX);
        return;
      }
      case 'level':
        if (!(LEVELS as readonly string[]).includes(this.#text(name, TEXT_BYTES_MAX).toString('utf8')))
          throw new RowFault(`${name} must be one of ${LEVELS.join(', ')}`);
        return;
      case 'payload':
        if (!isJsonObject(this.#text(name, PAYLOAD_BYTES_MAX).toString('utf8')))
          throw new RowFault(`${name} must be a JSON object`);
    }
  }

  #text(name: string, bytesMax: number): Buffer {
    const length = this.#varint(name, bytesMax);
    const start = this.#take(length);
    const text = this.#bytes.subarray(start, start + length);
    if (!isUtf8(text)) throw new RowFault(`${name} must be a text in UTF-8`);
    return text;
  }

  #varint(name: string, max: number): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes.readUInt8(this.#take(1));
      value += (byte & 127) * factor;
      if (value > max) throw new RowFault(`${name} is longer than anything that is stored`);
      if (byte < 128) return value;
      factor *= 128;
      if (factor > 2 ** 35) throw new RowFault(`${name} has no length`);
    }
  }

  /** Returns where so many bytes begin. */
  #take(length: number): number {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw INCOMPLETE;
    this.#at = start + length;
    return start;
  }
}

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
