import { text } from 'node:stream/consumers';

import { retryWhileUnavailable } from '#kernel/promises.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { withClickHouseErrors } from '#storage/clickhouse/faults.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import type { DataTable } from '#storage/clickhouse/layout.ts';

export interface CopiedTable {
  readonly table: DataTable;
  readonly partitions: number;
  /** Partitions that differed, and were copied. */
  readonly copied: number;
  /** Partitions that differ even so: rows still arrive in one of the stores. */
  readonly different: number;
}

/** The columns of each table, and those that tell one row from another. */
const TABLES: Readonly<Record<DataTable, { readonly columns: string; readonly compared: string }>> = {
  metric_series: {
    columns: 'service_id, metric, series, last_at, tags',
    compared: 'service_id, metric, series, last_at, tags',
  },
  metric_names: { columns: 'service_id, metric, last_at', compared: 'service_id, metric, last_at' },
  metric_exemplars: {
    columns: 'service_id, metric, at, trace_id, span_id, value, tags',
    compared: 'service_id, metric, at, trace_id, span_id',
  },
  exception_events: {
    columns:
      'service_id, group_id, event_id, at, received_at, level, environment, release, user_key, handled, tags, payload',
    compared: 'service_id, group_id, event_id, at',
  },
  exception_origins: {
    columns: 'service_id, release, environment, group_id, first_at, last_at',
    compared: 'service_id, release, environment, group_id, first_at, last_at',
  },
  metric_points: {
    columns: 'service_id, metric, series, ts, value, kind',
    compared: 'service_id, metric, series, ts, value, kind',
  },
};

const ORDER: readonly DataTable[] = [
  'metric_series',
  'metric_names',
  'metric_exemplars',
  'exception_events',
  'exception_origins',
  'metric_points',
];

/** A store that fails midway is waited for; what was copied twice counts once. */
const RETRY = { pauseMs: 1_000, pauseMsMax: 15_000, timeoutMs: 300_000 };

/**
 * Brings all rows of one store into another, partition by partition, the newest first. What is equal in both is left out,
 * so the same call goes on where it was broken off, and brings later what has come since. Rows pass through this process
 * as a stream: the stores need not reach each other.
 */
export async function copyTables(
  from: ClickHouseClient,
  to: ClickHouseClient,
  onCopied: (table: DataTable, partition: string) => void,
): Promise<CopiedTable[]> {
  const done: CopiedTable[] = [];
  for (const table of ORDER) {
    const partitions = await listPartitions(from, table);
    let copied = 0;
    let different = 0;
    for (const partition of partitions) {
      if (await isEqual(from, to, table, partition)) continue;
      await retryWhileUnavailable(() => withClickHouseErrors(() => copyPartition(from, to, table, partition)), RETRY);
      copied += 1;
      onCopied(table, partition);
      if (!(await isEqual(from, to, table, partition))) different += 1;
    }
    done.push({ table, partitions: partitions.length, copied, different });
  }
  return done;
}

/** Newest first. */
async function listPartitions(client: ClickHouseClient, table: DataTable): Promise<string[]> {
  const partitions = await rows<[partition: string]>(
    client,
    `SELECT DISTINCT _partition_id AS partition FROM ${table} ORDER BY partition DESC`,
    {},
  );
  return partitions.map(([partition]) => partition);
}

async function isEqual(
  from: ClickHouseClient,
  to: ClickHouseClient,
  table: DataTable,
  partition: string,
): Promise<boolean> {
  const [source, other] = await Promise.all([from, to].map((client) => contentOf(client, table, partition)));
  return source === other;
}

/** The number of rows and a sum over them, each row once, whatever parts they lie in. */
async function contentOf(client: ClickHouseClient, table: DataTable, partition: string): Promise<string> {
  const [row] = await rows<[rows: string, sum: string]>(
    client,
    `SELECT toString(count()), toString(sum(cityHash64(${TABLES[table].compared}))) FROM ${table} FINAL
     WHERE _partition_id = {partition:String}`,
    { partition },
  );
  return (row ?? []).join(' ');
}

async function copyPartition(
  from: ClickHouseClient,
  to: ClickHouseClient,
  table: DataTable,
  partition: string,
): Promise<void> {
  const { columns } = TABLES[table];
  const source = await from.exec({
    query: `SELECT ${columns} FROM ${table} WHERE _partition_id = {partition:String} FORMAT RowBinary`,
    query_params: { partition },
  });
  const { stream } = await to.exec({
    query: `INSERT INTO ${table} (${columns}) FORMAT RowBinary`,
    values: source.stream,
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 0,
      ...(to.layout.cluster !== null && { insert_quorum: 'auto', insert_quorum_timeout: 60_000 }),
    },
  });
  await text(stream);
}

async function rows<Row extends readonly unknown[]>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown>,
): Promise<Row[]> {
  return await retryWhileUnavailable(() => readRows<Row>(client, query, parameters), RETRY);
}
