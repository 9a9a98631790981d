import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { startRedis } from '#test/kit/redis.ts';
import { migrateEvents, migratePostgresAndQueue } from '#entry/migrate.ts';
import type { ClickHouseAddress } from '#storage/clickhouse/address.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server; each test file makes its own database from the template. */
    postgresUrl: string;
    templateDatabase: string;
    clickhouseUrl: string;
    /** What makes the tables of the database of that name anew, in order. */
    clickhouseTemplate: readonly string[];
    /** null on a machine without a Redis server: what needs one is skipped. */
    redisUrl: string | null;
    /** The cluster over which tables are spread; null for one server. */
    clickhouseCluster: string | null;
  }
}

/** Of the databases, of either kind, that all others are copies of. */
export const TEMPLATE = 'tocsin_template';

/** The same URL with another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

interface ClickHouseForTests extends ClickHouseAddress {
  stop(): Promise<void>;
}

/** Starts the embedded stores once for the whole run; a migrated template makes a new database a file copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return await setUpWith(project, async (folder) => {
    const { url, stop } = await startClickHouse(folder);
    return { clickhouseUrl: url, stop };
  });
}

/** The same with another ClickHouse, which is given a folder. */
export async function setUpWith(
  project: TestProject,
  start: (folder: string) => Promise<ClickHouseForTests>,
): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-test-'));
  // As root the server runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711);
  const [postgres, clickhouse, redis] = await Promise.all([
    startPostgres(path.join(folder, 'postgres'), { durable: false }),
    start(path.join(folder, 'clickhouse')),
    startRedis(folder),
  ]);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migratePostgresAndQueue({ databaseUrl: withDatabase(postgres.url, TEMPLATE), redisUrl: undefined });
  project.provide('postgresUrl', postgres.url);
  project.provide('templateDatabase', TEMPLATE);
  project.provide('clickhouseUrl', clickhouse.clickhouseUrl);
  project.provide('clickhouseCluster', clickhouse.clickhouseCluster ?? null);
  project.provide('clickhouseTemplate', await clickhouseTemplate(clickhouse));
  project.provide('redisUrl', redis?.url ?? null);
  return async () => {
    await Promise.all([postgres.stop(), clickhouse.stop(), redis?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Far quicker than the migrations that made them; views come behind the tables that they read. */
async function clickhouseTemplate(server: ClickHouseAddress): Promise<string[]> {
  const client = openClickHouse(server);
  try {
    await client.command({ query: `CREATE DATABASE ${TEMPLATE}` });
    await migrateEvents({ ...server, clickhouseUrl: withDatabase(server.clickhouseUrl, TEMPLATE) });
    const tables = await client.query({
      query: `SELECT create_table_query FROM system.tables WHERE database = '${TEMPLATE}'
        ORDER BY engine = 'MaterializedView', name`,
      format: 'JSONCompactEachRow',
    });
    return (await tables.json<[string]>()).map(([statement]) => statement);
  } finally {
    await client.close();
  }
}
