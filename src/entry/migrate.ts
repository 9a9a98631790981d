import path from 'node:path';

import { Migrator } from '@mikro-orm/migrations';
import { Client } from 'pg';

import { releaseOf } from '#entry/migrated_by.ts';
import type { Config } from '#entry/config.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { migrateClickHouse } from '#storage/clickhouse/migrate.ts';
import { type DatabaseAddress, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import { migrateQueue } from '#storage/queue/connection.ts';

const MIGRATIONS_DIR = path.join(import.meta.dirname, '../../infra/migrations');

/** Any number that no other program locks in our database. */
const LOCK = 7_203_311;

/** A migration may write every point anew. */
const REWRITE_MS_MAX = 24 * 3_600_000;

/**
 * Brings every store to the newest schema. Processes that start at the same time wait for each other under one
 * lock; a migration that fails leaves the store at the one before it.
 */
export async function migrate(config: Config & { databaseUrl: string; clickhouseUrl: string }): Promise<void> {
  // A lock of a session, which a pooler would give to somebody else.
  const lock = new Client({ connectionString: directUrlOf(config) });
  lock.on('error', () => {});
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [LOCK]);
    await Promise.all([migratePostgresAndQueue(config), migrateEvents(config)]);
    await lock.query(
      `insert into migrated_by (release) values ($1)
       on conflict (is_only) do update set release = excluded.release, at = now()`,
      [releaseOf(config)],
    );
  } finally {
    await lock.end();
  }
}

/** The relational tables, and the queue's where PostgreSQL holds it. */
export async function migratePostgresAndQueue(
  config: DatabaseAddress & { redisUrl: string | undefined },
): Promise<void> {
  await Promise.all([migratePostgres(directUrlOf(config)), migrateQueue(config)]);
}

async function migratePostgres(url: string): Promise<void> {
  const db = await openDatabase({
    url,
    poolMax: 2,
    migrationsDir: path.join(MIGRATIONS_DIR, 'postgres'),
    extensions: [Migrator],
  });
  try {
    await db.orm.migrator.up();
  } finally {
    await db.close();
  }
}

/** The tables of points and events. */
export async function migrateEvents(config: {
  clickhouseUrl: string;
  clickhouseCluster: string | undefined;
}): Promise<void> {
  const client = openClickHouse(config.clickhouseUrl, REWRITE_MS_MAX);
  try {
    await migrateClickHouse(client, path.join(MIGRATIONS_DIR, 'clickhouse'), config.clickhouseCluster);
  } finally {
    await client.close();
  }
}
