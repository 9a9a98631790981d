import path from 'node:path';
import type { Writable } from 'node:stream';

import type { Client } from 'pg';

import { ArchiveWriter, type Manifest } from '#entry/backup/archive.ts';
import { readClickHouseMigrations, readParts } from '#entry/backup/clickhouse_rows.ts';
import { connect, listTables, readMigrations, readRows, readSequences } from '#entry/backup/postgres_rows.ts';
import { versionText } from '#entry/cli/version.ts';
import { fingerprintOf } from '#entry/secret_fingerprint.ts';
import type { RunningConfig } from '#entry/config.ts';
import { Spool } from '#ingest/spool.ts';
import { newId } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { directUrlOf } from '#storage/postgres/database.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { listWaitingJobs } from '#storage/queue/pending_jobs.ts';

export interface BackupSummary {
  readonly id: string;
  readonly snapshotAt: string;
  readonly bytes: number;
  /** Sizes before compression. */
  readonly contentBytes: { readonly postgres: number; readonly clickhouse: number };
  readonly isEncrypted: boolean;
}

/** Timeout of a read: one part may hold millions of rows. */
const READ_MS_MAX = 3_600_000;

/**
 * Writes a backup of all stores while they are in use. PostgreSQL is read in one snapshot, and ClickHouse after it:
 * data accepted before the snapshot is in one of the two, as a job still to run or as rows. Rows in ClickHouse newer
 * than the snapshot are stored once more by that job, as the same rows, or removed by the restore.
 */
export async function writeBackup(config: RunningConfig, sink: Writable): Promise<BackupSummary> {
  const client = await connect(directUrlOf(config));
  const clickhouse = openClickHouse(config, READ_MS_MAX);
  try {
    const manifest: Manifest = {
      kind: 'manifest',
      id: newId('job'),
      version: versionText([]),
      queue: config.redisUrl === undefined ? 'postgres' : 'redis',
      postgresMigrations: await readMigrations(client),
      clickhouseMigrations: await readClickHouseMigrations(clickhouse),
      secretFingerprint: fingerprintOf(config.appSecret),
    };
    const archive = await ArchiveWriter.begin(sink, config.backupKey, manifest);
    if (config.backupKey !== undefined) await archive.add({ kind: 'secret', appSecret: config.appSecret });
    // Before the snapshot: an event that moves from the disk to PostgreSQL meanwhile is in both, and counts once.
    const spool = new Spool({ folder: path.join(config.dataDir, 'spool'), bytesMax: 0 });
    for await (const event of spool.read()) await archive.add({ kind: 'spooled_event' }, [event]);
    await client.query('begin isolation level repeatable read read only');
    const snapshotAt = await readClock(client);
    await archive.add({ kind: 'snapshot', at: snapshotAt });
    const postgres = await addTables(client, archive);
    await client.query('commit');
    await addJobs(config, archive);
    let rows = 0;
    for await (const { rows: read, ...part } of readParts(clickhouse)) {
      rows += await archive.add({ kind: 'clickhouse_rows', ...part }, await read());
    }
    await archive.end();
    return {
      id: manifest.id,
      snapshotAt,
      bytes: archive.bytes,
      contentBytes: { postgres, clickhouse: rows },
      isEncrypted: config.backupKey !== undefined,
    };
  } finally {
    await clickhouse.close();
    await client.end().catch(() => {});
  }
}

async function readClock(client: Client): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  return rows[0]?.at ?? '';
}

async function addTables(client: Client, archive: ArchiveWriter): Promise<number> {
  let bytes = 0;
  for (const table of await listTables(client)) {
    bytes += await archive.add({ kind: 'postgres_table', ...table }, readRows(client, table));
  }
  await archive.add({ kind: 'postgres_sequences', values: await readSequences(client) });
  return bytes;
}

/**
 * Adds the waiting jobs. Runs after the snapshot: a job that leaves the outbox meanwhile is in the snapshot, in the
 * queue, or has run.
 */
async function addJobs(config: RunningConfig, archive: ArchiveWriter): Promise<void> {
  const queue = connectQueue(config, { durable: false, poolMax: 2 });
  try {
    const jobs = await listWaitingJobs(queue);
    const lines = jobs.map(({ runAt, ...job }) =>
      JSON.stringify({ ...job, runAt: runAt === null ? null : toTimestamp(runAt) }),
    );
    await archive.add({ kind: 'jobs' }, [Buffer.from(lines.join('\n'))]);
  } finally {
    await queue.close();
  }
}
