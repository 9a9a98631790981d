import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { startRedis } from '#test/kit/redis.ts';
import { migratePostgresAndQueue } from '#entry/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the server; each test file makes its own database from the template. */
    postgresUrl: string;
    templateDatabase: string;
    clickhouseUrl: string;
    /** null on a machine without a Redis server: what needs one is skipped. */
    redisUrl: string | null;
  }
}

const TEMPLATE = 'tocsin_template';

/** The same URL with another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Starts the embedded stores once for the whole run; a migrated template makes a new database a file copy. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-test-'));
  // As root the server runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711);
  const [postgres, clickhouse, redis] = await Promise.all([
    startPostgres(path.join(folder, 'postgres'), { durable: false }),
    startClickHouse(path.join(folder, 'clickhouse')),
    startRedis(folder),
  ]);
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migratePostgresAndQueue({ databaseUrl: withDatabase(postgres.url, TEMPLATE), redisUrl: undefined });
  project.provide('postgresUrl', postgres.url);
  project.provide('templateDatabase', TEMPLATE);
  project.provide('clickhouseUrl', clickhouse.url);
  project.provide('redisUrl', redis?.url ?? null);
  return async () => {
    await Promise.all([postgres.stop(), clickhouse.stop(), redis?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
}
