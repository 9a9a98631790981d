import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import type { Client } from 'pg';

import { type Manifest, readArchive, type ReadEntry } from '#entry/backup/archive.ts';
import { BackupCheck, declaredColumns, type DeclaredColumns } from '#entry/backup/check_rows.ts';
import { emptyTables, hasRows, insertPart } from '#entry/backup/clickhouse_rows.ts';
import {
  connect,
  continueSequences,
  dropSchema,
  emptyAll,
  listTables,
  readMigrations,
  requireKnown,
  setTriggers,
  type StoredTable,
  writeRows,
  writeSequences,
} from '#entry/backup/postgres_rows.ts';
import { CLEAR_RESTORE_MARKER, findRestoreMarker, setRestoreMarker } from '#entry/backup/restore_marker.ts';
import type { Config } from '#entry/config.ts';
import { migrate, migrateEvents, migratePostgres, migrationNames } from '#entry/migrate.ts';
import { fingerprintOf } from '#entry/secret_fingerprint.ts';
import { fromSpooled } from '#ingest/packing/spooled_job.ts';
import { AppError } from '#kernel/errors.ts';
import { idOfUuid, newId } from '#kernel/ids.ts';
import { systemClock, Temporal } from '#kernel/time.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { inUnitOfWork } from '#modules/stores.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { deleteRows } from '#storage/clickhouse/expired_rows.ts';
import { ROLLUP_TABLES } from '#storage/clickhouse/layout.ts';
import { type DatabaseAddress, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import { insertSlices } from '#storage/postgres/store.ts';
import type { NewDurableJob } from '#storage/queue/durable_queue.ts';
import { groupExceptions } from '#storage/queue/jobs.ts';
import type { WaitingJob } from '#storage/queue/pending_jobs.ts';

interface RestoreOptions {
  readonly file: string;
  /** Whether an installation that is not empty is deleted first. */
  readonly replace: boolean;
  /** Whether rows that no operation would write are taken, too. */
  readonly asIs?: boolean;
}

interface RestoreSummary {
  readonly id: string;
  readonly snapshotAt: string;
  /** The app secret, as encrypted in the archive; null if the archive does not contain it. */
  readonly appSecret: string | null;
}

type Target = Config & { readonly databaseUrl: string; readonly clickhouseUrl: string };

const WRITE_MS_MAX = 3_600_000;

/** Contents of an archive, as read from it. */
interface Contents {
  readonly manifest: Manifest;
  readonly appSecret: string | null;
  readonly snapshotAt: string;
}

/**
 * Restores a backup into an empty installation. The whole archive is read and checked before anything is written. Until
 * the restore is complete, a marker in the database keeps processes from starting, and an interrupted restore can be
 * repeated.
 */
export async function restoreBackup(
  config: Target,
  { file, replace, asIs = false }: RestoreOptions,
): Promise<RestoreSummary> {
  const read = () => readArchive(createReadStream(file, { highWaterMark: 1024 * 1024 }), config.backupKey);
  const contents = await check(read(), await readColumns(config), asIs);
  const appSecret = requireSecret(contents, config.appSecret);
  const client = await connect(directUrlOf(config));
  const clickhouse = openClickHouse(config, WRITE_MS_MAX);
  try {
    await requireQuiet(client);
    if (!replace && (await findRestoreMarker(client)) === null) await requireEmpty(client, await hasRows(clickhouse));
    await setRestoreMarker(client, contents.manifest.id);
    await dropSchema(client);
    await migratePostgres(directUrlOf(config), contents.manifest.postgresMigrations);
    await migrateEvents(config);
    await emptyTables(clickhouse);
    await client.query('begin');
    await setTriggers(client, 'disable');
    // Migrations have inserted rows into some tables.
    await emptyAll(client);
    const tables = await listTables(client);
    const rest = { jobs: [] as WaitingJob[], spooled: [] as NewDurableJob[] };
    let isCommitted = false;
    for await (const { entry, content } of read()) {
      if (entry.kind === 'clickhouse_rows') {
        if (!isCommitted) await commit(client);
        isCommitted = true;
        await insertPart(clickhouse, entry, content());
      } else await take(client, tables, { entry, content }, rest);
    }
    if (!isCommitted) await commit(client);
    await migrate({ ...config, appSecret }, { isRestoring: true });
    await deleteOrphanRows(client, clickhouse);
    await finishRestore(config, { ...contents, ...rest });
    return { id: contents.manifest.id, snapshotAt: contents.snapshotAt, appSecret: contents.appSecret };
  } finally {
    await clickhouse.close();
    await client.end().catch(() => {});
  }
}

async function commit(client: Client): Promise<void> {
  await continueSequences(client);
  await setTriggers(client, 'enable');
  await client.query('commit');
}

async function take(
  client: Client,
  tables: readonly StoredTable[],
  { entry, content }: ReadEntry,
  rest: { readonly jobs: WaitingJob[]; readonly spooled: NewDurableJob[] },
): Promise<void> {
  switch (entry.kind) {
    case 'postgres_table':
      requireKnown(entry, tables);
      return await writeRows(client, entry, content());
    case 'postgres_sequences':
      return await writeSequences(client, entry.values);
    case 'jobs': {
      const lines = (await whole(content())).toString('utf8').split('\n');
      rest.jobs.push(...lines.filter((line) => line !== '').map(readJob));
      return;
    }
    case 'spooled_event':
      rest.spooled.push(fromSpooled(await whole(content())));
      return;
    case 'manifest':
    case 'secret':
    case 'snapshot':
    case 'clickhouse_rows':
    case 'end':
      return;
  }
}

async function whole(content: AsyncIterable<Buffer>): Promise<Buffer> {
  return await buffer(content);
}

function readJob(line: string): WaitingJob {
  const { jobName, payload, runAt } = JSON.parse(line) as { jobName: string; payload: unknown; runAt: string | null };
  return { jobName, payload, runAt: runAt === null ? null : Temporal.Instant.from(runAt) };
}

/** Reads what the entities of this release declare; connects to nothing. */
async function readColumns(config: Target): Promise<DeclaredColumns> {
  const db = await openDatabase({ url: directUrlOf(config), poolMax: 1 });
  try {
    return declaredColumns(db.em.getMetadata().getAll().values());
  } finally {
    await db.close();
  }
}

/**
 * Reads and checks the whole archive. Throws `invalid_input` for a wrong key, if the archive was altered, and with table
 * and row for what no operation would write.
 */
async function check(entries: AsyncGenerator<ReadEntry>, columns: DeclaredColumns, asIs: boolean): Promise<Contents> {
  let manifest: Manifest | null = null;
  let appSecret: string | null = null;
  let snapshotAt: string | null = null;
  let rows: BackupCheck | null = null;
  for await (const { entry, content } of entries) {
    if (entry.kind === 'manifest') {
      manifest = entry;
      requireMigrations(manifest);
      const isSameSchema = manifest.postgresMigrations.length === migrationNames('postgres').size;
      const hasSamePoints = manifest.clickhouseMigrations.length === migrationNames('clickhouse').size;
      rows = new BackupCheck(columns, { isSameSchema, hasSamePoints, asIs });
    } else if (entry.kind === 'secret') appSecret = entry.appSecret;
    else if (entry.kind === 'snapshot') snapshotAt = entry.at;
    else if (entry.kind === 'postgres_table') await rows?.table(entry, content());
    else if (entry.kind === 'postgres_sequences') rows?.sequences(entry.values);
    else if (entry.kind === 'jobs') await rows?.jobs(content());
    else if (entry.kind === 'clickhouse_rows') await rows?.points(entry, content());
  }
  rows?.end();
  if (manifest === null || snapshotAt === null) throw new AppError('invalid_input', 'the backup is damaged');
  return { manifest, appSecret, snapshotAt };
}

function requireMigrations({ version, ...manifest }: Manifest): void {
  const unknown = [
    ...manifest.postgresMigrations.filter((name) => !migrationNames('postgres').has(name)),
    ...manifest.clickhouseMigrations.filter((name) => !migrationNames('clickhouse').has(name)),
  ];
  if (unknown.length === 0) return;
  throw new AppError(
    'invalid_input',
    `this backup was made by a newer release (${version}, which has ${unknown[0]}): restore it with that release or a newer one`,
  );
}

function requireSecret({ manifest, appSecret: backupSecret }: Contents, configured: string | undefined): string {
  const appSecret = configured ?? backupSecret;
  if (appSecret !== null && fingerprintOf(appSecret) === manifest.secretFingerprint) return appSecret;
  throw new AppError(
    'invalid_input',
    appSecret === null
      ? 'set APP_SECRET to that of the installation that was backed up: an archive without a key does not hold it'
      : 'APP_SECRET is not that of the installation that was backed up, so keys in the backup could not be read: set it to that one',
  );
}

/** Throws if a process of the product is running: it would work on rows that are being replaced. */
async function requireQuiet(client: Client): Promise<void> {
  const { rows } = await client.query<{ count: number }>(`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name in ('tocsin', 'tocsin-queue')`);
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  throw new AppError('conflict', `Tocsin runs on this database (${count} connections): stop every process of it first`);
}

async function requireEmpty(client: Client, hasEvents: boolean): Promise<void> {
  const isNew = (await readMigrations(client)).length === 0;
  const { rows } = isNew
    ? { rows: [] }
    : await client.query('select 1 from public.organizations union all select 1 from public.users limit 1');
  if (rows.length === 0 && !hasEvents) return;
  throw new AppError(
    'conflict',
    `${rows.length > 0 ? 'the database has an organization' : 'ClickHouse has points or events'} already: ` +
      'restore into an empty installation, or add --replace to delete what is there',
  );
}

interface Restored {
  readonly manifest: Manifest;
  readonly snapshotAt: string;
  readonly jobs: readonly WaitingJob[];
  readonly spooled: readonly NewDurableJob[];
}

/**
 * Completes the restore in one last transaction: requeues the jobs saved outside the rows, records the restoration so
 * that pagers know the age of their timers, adds an audit entry to every organization, and lets processes start.
 */
async function finishRestore(address: DatabaseAddress, restored: Restored): Promise<void> {
  const db = await openDatabase({ url: directUrlOf(address), poolMax: 2 });
  try {
    await inUnitOfWork({ db, clock: systemClock, onOutbox: () => {} }, async (unit, session) => {
      const { stores, now } = unit;
      const { manifest, snapshotAt, jobs, spooled } = restored;
      await stores.outbox.insert(jobs, now);
      const events = spooled.map((job) => ({ jobId: newId('job'), ...job }));
      for (const slice of insertSlices(events)) await stores.durableJobs.insert(groupExceptions.name, slice, now);
      await stores.restorations.insert(manifest.id, Temporal.Instant.from(snapshotAt), now);
      for (const { id: orgId } of await stores.people.listOrganizations()) {
        const after = { backup: manifest.id, snapshotAt };
        const change = { action: 'restore_backup', via: 'system', target: manifest.id, before: null, after } as const;
        await recordSystemChange(unit, { orgId, ...change });
      }
      await session.sql.run(CLEAR_RESTORE_MARKER);
    });
  } finally {
    await db.close();
  }
}

const BATCH = 2_000;

/**
 * Deletes rows of ClickHouse whose service or group PostgreSQL does not have: they were written after its snapshot. An
 * event among them that was accepted before the snapshot is stored again by its job, in the group it finds then.
 */
async function deleteOrphanRows(client: Client, clickhouse: ClickHouseClient): Promise<void> {
  for (const table of [
    'metric_points',
    'metric_series',
    'metric_names',
    'metric_exemplars',
    'exception_events',
    'exception_origins',
    ...ROLLUP_TABLES,
  ] as const) {
    await deleteUnknown(client, clickhouse, table, 'service');
  }
  await deleteUnknown(client, clickhouse, 'exception_events', 'group');
  await deleteUnknown(client, clickhouse, 'exception_origins', 'group');
}

async function deleteUnknown(
  client: Client,
  clickhouse: ClickHouseClient,
  table: Parameters<typeof deleteRows>[1],
  kind: 'service' | 'group',
): Promise<void> {
  const ownerTable = kind === 'service' ? 'services' : 'exception_groups';
  const answer = await clickhouse.query({
    query: `SELECT DISTINCT ${kind}_id AS id FROM ${table}`,
    format: 'JSONEachRow',
  });
  const uuids = (await answer.json<{ id: string }>()).map(({ id }) => id);
  for (let at = 0; at < uuids.length; at += BATCH) {
    const ids = new Map(uuids.slice(at, at + BATCH).map((uuid) => [idOfUuid(kind, uuid) as string, uuid]));
    const { rows } = await client.query<{ id: string }>(`select id from ${ownerTable} where id = any ($1)`, [
      [...ids.keys()],
    ]);
    for (const { id } of rows) ids.delete(id);
    if (ids.size === 0) continue;
    await deleteRows(clickhouse, table, `${kind}_id IN {ids:Array(UUID)}`, { ids: [...ids.values()] });
  }
}
