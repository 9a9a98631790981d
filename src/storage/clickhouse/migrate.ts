import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';

/** How a migration is written for one server or for a cluster of replicas. */
export interface Rendering {
  /** ` ON CLUSTER name`, or nothing. */
  readonly onCluster: string;
  /** `MergeTree` becomes `ReplicatedMergeTree` on a cluster; arguments follow the replica's. */
  engine(
    name: 'MergeTree' | 'ReplacingMergeTree' | 'AggregatingMergeTree' | 'SummingMergeTree',
    ...args: string[]
  ): string;
}

/** What each numbered file exports: the statements, one a call, in order. */
export interface ClickHouseMigration {
  readonly statements: (rendering: Rendering) => readonly string[];
}

export function renderingFor(cluster: string | undefined): Rendering {
  return cluster === undefined
    ? { onCluster: '', engine: (name, ...args) => `${name}(${args.join(', ')})` }
    : {
        onCluster: ` ON CLUSTER ${cluster}`,
        engine: (name, ...args) =>
          `Replicated${name}(${["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'", ...args].join(', ')})`,
      };
}

/**
 * Applies the files of `dir` that have not run yet, in the order of their numbers. The caller holds a lock that
 * other processes respect; statements are repeatable, so that a crash half-way is mended by the next run.
 */
export async function migrateClickHouse(client: ClickHouseClient, dir: string, cluster?: string): Promise<void> {
  const rendering = renderingFor(cluster);
  await client.command({
    query: `CREATE TABLE IF NOT EXISTS migrations${rendering.onCluster} (name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = ${rendering.engine('MergeTree')} ORDER BY name`,
  });
  const applied = await client.query({ query: 'SELECT name FROM migrations', format: 'JSONEachRow' });
  const done = new Set((await applied.json<{ name: string }>()).map(({ name }) => name));
  const files = (await readdir(dir)).filter((file) => /^\d{4}_.*\.ts$/.test(file)).toSorted();
  for (const file of files.filter((file) => !done.has(file))) {
    const migration = (await import(pathToFileURL(path.join(dir, file)).href)) as ClickHouseMigration;
    for (const query of migration.statements(rendering)) await client.command({ query });
    await client.insert({ table: 'migrations', columns: ['name'], values: [{ name: file }], format: 'JSONEachRow' });
  }
}
