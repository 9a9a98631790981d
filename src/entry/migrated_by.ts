import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { Client } from 'pg';

import { findRestoreMarker } from '#entry/backup/restore_marker.ts';
import { findSchemaFault, migrationNames } from '#entry/schema_age.ts';
import { claimDatabase, requireOwnSecret, type RunSql } from '#entry/secret_fingerprint.ts';
import { type ClickHouseAddress, nodeUrlsOf } from '#storage/clickhouse/address.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const ANSWER_MS_MAX = 5_000;

interface Addresses extends ClickHouseAddress {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly appSecret: string;
}

/**
 * Claims stores that were migrated by this release and are unchanged since; returns whether they were. Checking takes
 * some milliseconds, migrating takes a process. False also if it cannot be found out, if the secret is another, or if a
 * restore of the stores has not ended.
 */
export async function claimMigrated(addresses: Addresses): Promise<boolean> {
  try {
    const [release, names] = await Promise.all([readRelease(addresses), readNames(addresses)]);
    const isMigrated =
      release === releaseOf(addresses) && migrationNames('clickhouse').every((name) => names.has(name));
    if (isMigrated) await claim(addresses);
    return isMigrated;
  } catch {
    return false;
  }
}

/** Returns why this release cannot work on this database's schema; null if it can, or if the database is unreadable. */
export async function readSchemaFault(databaseUrl: string): Promise<string | null> {
  return await ask(databaseUrl, findSchemaFault).catch(() => null);
}

/** Returns a hash of what a release migrates: its own files, and the queue's by the version of its package. */
export function releaseOf({ redisUrl }: Pick<Addresses, 'redisUrl'>): string {
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const queue = redisUrl === undefined ? `bullmq ${dependencies['bullmq']}` : 'redis';
  const parts = [...migrationNames('postgres'), ...migrationNames('clickhouse'), queue];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

async function readRelease({ databaseUrl, appSecret }: Addresses): Promise<string | null> {
  return await ask(databaseUrl, async (client) => {
    await requireOwnSecret(runOn(client), appSecret);
    if ((await findRestoreMarker(client)) !== null) return null;
    const { rows } = await client.query<{ release: string }>('select release from migrated_by');
    return rows[0]?.release ?? null;
  });
}

async function claim({ databaseUrl, appSecret }: Addresses): Promise<void> {
  await ask(databaseUrl, (client) => claimDatabase(runOn(client), appSecret));
}

function runOn(client: Client): RunSql {
  return async (text, parameters) => (await client.query<{ value: string | null }>(text, [...parameters])).rows;
}

async function ask<Answer>(databaseUrl: string, question: (client: Client) => Promise<Answer>): Promise<Answer> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: ANSWER_MS_MAX });
  client.on('error', () => {});
  try {
    await client.connect();
    return await question(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Reads the names of applied migrations by plain HTTP, because loading the client would take longer. */
async function readNames({ clickhouseUrl }: ClickHouseAddress): Promise<ReadonlySet<string>> {
  const [first = ''] = nodeUrlsOf(clickhouseUrl) ?? [];
  const { username, password, origin, pathname } = new URL(first);
  const database = pathname.replaceAll('/', '');
  const query = new URLSearchParams({ query: 'SELECT name FROM migrations FORMAT TSV', ...(database && { database }) });
  const credentials = [username, password].map(decodeURIComponent).join(':');
  const response = await fetch(`${origin}/?${query.toString()}`, {
    headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  if (!response.ok) throw new Error(`ClickHouse answered ${response.status}`);
  return new Set((await response.text()).split('\n').map((name) => path.basename(name, '.ts')));
}
