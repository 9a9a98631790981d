import { readdirSync } from 'node:fs';
import path from 'node:path';

import { Migrator } from '@mikro-orm/migrations';
import { Client } from 'pg';

import { releaseOf } from '#entry/migrated_by.ts';
import { findRestoreMarker, UNFINISHED_RESTORE } from '#entry/backup/restore_marker.ts';
import type { RunningConfig } from './config.ts';
import { findSchemaFault, isSchemaNewer, MIGRATIONS_DIR, worksWith } from '#entry/schema_age.ts';
import { claimDatabase, requireOwnSecret, type RunSql } from '#entry/secret_fingerprint.ts';
import { ConfigError } from '#kernel/config.ts';
import { retry } from '#kernel/promises.ts';
import { type ClickHouseAddress, databaseOf, withDatabase } from '#storage/clickhouse/address.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { findClusterFault } from '#storage/clickhouse/cluster_check.ts';
import { createDatabaseOnCluster, migrateClickHouse } from '#storage/clickhouse/migrate.ts';
import { isLockConflict } from '#storage/postgres/faults.ts';
import { type DatabaseAddress, directUrlOf, openToMigrate } from '#storage/postgres/database.ts';
import { migrateQueue } from '#storage/queue/connection.ts';

/** Key of the advisory lock: any number that no other program locks in our database. */
const LOCK = 7_203_311;

/** Timeout of a migration, which may rewrite every point. */
export const REWRITE_MS_MAX = 24 * 3_600_000;

/**
 * Migrates every store to the newest schema. Processes that start at the same time wait for each other under one lock;
 * a failed migration leaves the store at the one before it. A schema made by a newer release is kept; throws a
 * ConfigError if this release does not work with it.
 */
export async function migrate(
  config: RunningConfig,
  { isRestoring = false }: { isRestoring?: boolean } = {},
): Promise<void> {
  // A lock belongs to a session, which a pooler would give to another client.
  const lock = new Client({ connectionString: directUrlOf(config) });
  lock.on('error', () => {});
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    if (!isRestoring && (await findRestoreMarker(lock)) !== null) throw new ConfigError([UNFINISHED_RESTORE]);
    const run: RunSql = async (text, parameters) =>
      (await lock.query<{ value: string | null }>(text, [...parameters])).rows;
    await requireOwnSecret(run, config.appSecret);
    const fault = await findSchemaFault(lock);
    if (fault !== null) throw new ConfigError([`DATABASE_URL: ${fault}`]);
    if (await isSchemaNewer(lock)) return;
    await requireCluster(config);
    await Promise.all([migratePostgresAndQueue(config), migrateEvents(config)]);
    await claimDatabase(run, config.appSecret);
    await writeRelease(lock, config);
  } finally {
    await lock.end();
  }
}

/** Records that this release has migrated both stores, which belong to no installation yet. */
export async function recordRelease(config: DatabaseAddress & { redisUrl: string | undefined }): Promise<void> {
  const client = new Client({ connectionString: directUrlOf(config) });
  await client.connect();
  try {
    await writeRelease(client, config);
  } finally {
    await client.end();
  }
}

async function writeRelease(client: Client, config: { redisUrl: string | undefined }): Promise<void> {
  const { postgres, clickhouse } = worksWith();
  await client.query(
    `insert into migrated_by (release, works_with_postgres, works_with_clickhouse) values ($1, $2, $3)
     on conflict (is_only) do update set release = excluded.release, at = now(),
       works_with_postgres = excluded.works_with_postgres, works_with_clickhouse = excluded.works_with_clickhouse`,
    [releaseOf(config), postgres, clickhouse],
  );
}

/** Migrates the relational tables, and the queue's if PostgreSQL holds it. */
export async function migratePostgresAndQueue(
  config: DatabaseAddress & { redisUrl: string | undefined },
): Promise<void> {
  await Promise.all([migratePostgres(directUrlOf(config)), migrateQueue(config)]);
}

/** Returns the names of the migrations of this release, as the stores keep them. */
export function migrationNames(store: 'postgres' | 'clickhouse'): ReadonlySet<string> {
  const files = readdirSync(path.join(MIGRATIONS_DIR, store)).filter((file) => /^\d{4}_.*\.ts$/.test(file));
  return new Set(store === 'clickhouse' ? files : files.map((file) => path.basename(file, '.ts')));
}

/**
 * Longest wait of a migration for a table. Everybody else waits behind it, and may be about to page somebody: so it
 * gives up before PostgreSQL looks for deadlocks, which is after a second, and tries again.
 */
const LOCK_WAIT_MS_MAX = 700;
const LOCK_AGAIN = { pauseMs: 300, pauseMsMax: 2_000, timeoutMs: 120_000 };

/** Applies the named migrations that have not run yet, or all; each is a separate transaction. */
export async function migratePostgres(url: string, names?: readonly string[]): Promise<void> {
  if (names?.length === 0) return;
  const db = await openToMigrate({
    url,
    poolMax: 2,
    lockWaitMsMax: LOCK_WAIT_MS_MAX,
    migrationsDir: path.join(MIGRATIONS_DIR, 'postgres'),
    extensions: [Migrator],
  });
  try {
    const apply = async () => await db.orm.migrator.up(names && { migrations: [...names] });
    await retry(apply, { ...LOCK_AGAIN, mayRetry: isLockConflict });
  } finally {
    await db.close();
  }
}

/**
 * Throws unless the cluster is complete. Runs before anything is changed: a cluster with servers missing would be
 * migrated only in part.
 */
async function requireCluster(address: ClickHouseAddress): Promise<void> {
  const client = openClickHouse({ ...address, clickhouseUrl: withDatabase(address.clickhouseUrl, 'default') });
  try {
    const database = databaseOf(address.clickhouseUrl);
    const fault = await findClusterFault(client, { everyServer: true, database });
    if (fault !== null) throw new ConfigError([`CLICKHOUSE_CLUSTER: ${fault.sentence}`]);
    if (client.layout.cluster !== null) await createDatabaseOnCluster(client, database);
  } finally {
    await client.close();
  }
}

/** Creates the tables of points and events in a store that need not be the configured one. */
export async function prepareEvents(address: ClickHouseAddress): Promise<void> {
  await requireCluster(address);
  await migrateEvents(address);
}

/** Migrates the tables of points and events. */
export async function migrateEvents(address: ClickHouseAddress): Promise<void> {
  const client = openClickHouse(address, REWRITE_MS_MAX);
  try {
    await migrateClickHouse(client, path.join(MIGRATIONS_DIR, 'clickhouse'));
  } finally {
    await client.close();
  }
}
