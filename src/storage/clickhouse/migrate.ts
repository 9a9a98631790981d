import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import type { ClickHouseSettings } from '@clickhouse/client';

import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { type DataTable, type Layout, quoteName, quoteText, type RollupTable } from '#storage/clickhouse/layout.ts';

type Engine = 'MergeTree' | 'ReplacingMergeTree' | 'AggregatingMergeTree';

/** Form of a migration for one server or for a cluster. */
export interface Rendering extends Pick<Layout, 'onCluster' | 'stored'> {
  readonly isCluster: boolean;
  /** The engine of the table that holds the rows; `MergeTree` becomes `ReplicatedMergeTree` on a cluster. */
  engine(name: Engine, table: DataTable | RollupTable, ...args: string[]): string;
  /** Clause behind the other settings of a table whose inserts are recognized when they are repeated. */
  readonly settings: string;
  /**
   * The table that queries name, over those that hold the rows: nothing on one server. Rows that replace each other have
   * the same sharding key, so that they meet in one shard.
   */
  distributed(table: DataTable | RollupTable, shardingKey: string): readonly string[];
}

/** Exports of each numbered file: the statements, one a call, in order. */
export interface ClickHouseMigration {
  readonly statements: (rendering: Rendering) => readonly string[];
}

/**
 * Limits on the tokens of inserts that are remembered for a table:
 * https://clickhouse.com/docs/operations/settings/merge-tree-settings. Under load a thousand inserts are over within
 * minutes. One server may be a service that replicates by itself.
 */
const TOKENS_MAX = { server: 10_000, cluster: 50_000 };
const TOKENS_SECONDS = 6 * 3_600;

/**
 * The name of a table in Keeper is fixed when it is created, by its first name: a renamed or exchanged table keeps it, and
 * each replica of a shard finds the others by it, also one that joins later.
 * https://clickhouse.com/docs/engines/table-engines/mergetree-family/replication
 */
const inKeeper = (database: string, shard: string, table: string): string =>
  quoteText(`/clickhouse/tables/${database}/${shard}/${table}`);

const remembered = (tokens: number): string =>
  `, replicated_deduplication_window = ${tokens}, replicated_deduplication_window_seconds = ${TOKENS_SECONDS}`;

export function renderingFor({ layout, database }: Pick<ClickHouseClient, 'layout' | 'database'>): Rendering {
  const { cluster, onCluster, stored } = layout;
  if (cluster === null) {
    const engine: Rendering['engine'] = (name, _table, ...args) => `${name}(${args.join(', ')})`;
    const settings = `, non_replicated_deduplication_window = ${TOKENS_MAX.server}${remembered(TOKENS_MAX.server)}`;
    return { isCluster: false, onCluster, stored, engine, settings, distributed: () => [] };
  }
  return {
    isCluster: true,
    onCluster,
    stored,
    engine: (name, table, ...args) =>
      `Replicated${name}(${[inKeeper(database, '{shard}', table), "'{replica}'", ...args].join(', ')})`,
    settings: remembered(TOKENS_MAX.cluster),
    // https://clickhouse.com/docs/engines/table-engines/special/distributed
    distributed: (table, shardingKey) => [
      `CREATE TABLE IF NOT EXISTS ${table}${onCluster} AS ${stored(table)}
       ENGINE = Distributed(${[cluster, database, stored(table)].map(quoteText).join(', ')}, ${shardingKey})`,
    ],
  };
}

/** Every server has to carry a statement out: one that does not answer in time fails the migration, which is then repeated. */
const EVERYWHERE: ClickHouseSettings = { distributed_ddl_task_timeout: '600', distributed_ddl_output_mode: 'throw' };

/**
 * Applies the files of `dir` that have not run yet, in the order of their numbers. The caller holds a lock that
 * other processes respect; statements are repeatable, so that a crash half-way is mended by the next run.
 */
export async function migrateClickHouse(client: ClickHouseClient, dir: string): Promise<void> {
  const rendering = renderingFor(client);
  const run = (query: string) => client.command({ query, clickhouse_settings: rendering.isCluster ? EVERYWHERE : {} });
  for (const statement of migrationsTable(client)) await run(statement);
  const applied = await client.query({ query: 'SELECT name FROM migrations', format: 'JSONEachRow' });
  const done = new Set((await applied.json<{ name: string }>()).map(({ name }) => name));
  for (const file of (await migrationFiles(dir)).filter((file) => !done.has(file))) {
    for (const statement of await statementsOf(dir, file, rendering)) await run(statement);
    await client.insert({ table: 'migrations', columns: ['name'], values: [{ name: file }], format: 'JSONEachRow' });
  }
}

export async function migrationFiles(dir: string): Promise<string[]> {
  return (await readdir(dir)).filter((file) => /^\d{4}_.*\.ts$/.test(file)).toSorted();
}

export async function statementsOf(dir: string, file: string, rendering: Rendering): Promise<readonly string[]> {
  const migration = (await import(pathToFileURL(path.join(dir, file)).href)) as ClickHouseMigration;
  return migration.statements(rendering);
}

/** Returns the table of applied migrations. On a cluster every server of every shard is a replica of this one table. */
function migrationsTable({ layout: { cluster, onCluster }, database }: ClickHouseClient): string[] {
  const engine =
    cluster === null
      ? 'MergeTree()'
      : `ReplicatedMergeTree(${inKeeper(database, 'all', 'migrations')}, '{shard}-{replica}')`;
  return [
    `CREATE TABLE IF NOT EXISTS migrations${onCluster} (name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
     ENGINE = ${engine} ORDER BY name`,
  ];
}

/** Creates the database on every server of the cluster. The client must not name it: no server lets it in before. */
export async function createDatabaseOnCluster(client: ClickHouseClient, database: string): Promise<void> {
  // https://clickhouse.com/docs/sql-reference/statements/create/database
  const query = `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}${client.layout.onCluster}`;
  await client.command({ query, clickhouse_settings: EVERYWHERE });
}
