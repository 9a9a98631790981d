import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { createCipher } from '#auth/cipher.ts';
import { newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_access.ts';
import { migrationNames } from '#entry/migrate.ts';
import type { RunningConfig } from '#entry/config.ts';
import { checkFolder } from '#entry/transfer/check_folder.ts';
import { type ArrivingRows, deleteEvents, importEvents, importRows } from '#entry/transfer/import_rows.ts';
import { faultText, linesOfFile, parseLine, refusedLine } from '#entry/transfer/json_lines.ts';
import { MovedIds } from '#entry/transfer/moved_ids.ts';
import { EVENT_FILES, EXPORT_FORMAT, type ExportManifest, MANIFEST_FILE } from '#entry/transfer/organization_tables.ts';
import { readTableColumns } from '#entry/transfer/check_row.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id, idOfUuid, newId, uuidOf } from '#kernel/ids.ts';
import { findFaults } from '#kernel/input_faults.ts';
import { systemClock } from '#kernel/time.ts';
import { mayBeOfStranger, unprovenText } from '#modules/accounts/unproven_account.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { REMOVING_EXPIRED } from '#storage/clickhouse/expired_rows.ts';
import { readRows } from '#storage/clickhouse/read_rows.ts';
import { type Database, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import { takeLease, whileHolding } from '#storage/postgres/held_lease.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';

interface ImportSummary {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Number of ids that were taken and replaced, including users with an account here, and services with events here. */
  readonly movedIds: number;
  readonly services: number;
}

const WRITE_MS_MAX = 3_600_000;
const LOOKED_UP = 2_000;
const LOOK_AGAIN_MS = 500;

/**
 * Imports an exported organization into this installation, in one transaction: all of it, or nothing. The folder may be
 * forged: each row is checked against the contract of the operations that create it, and refused with its file and line
 * before anything is written. Ids are kept if they are free. People who are new here come without a password; somebody
 * with an account here, by mail address, becomes a member with that account. Open incidents come without their timers,
 * because the other installation pages until it is stopped.
 */
export async function importOrganization(
  config: RunningConfig,
  folder: string,
  { asCopy }: { readonly asCopy: boolean },
): Promise<ImportSummary> {
  const db = await openDatabase({ url: directUrlOf(config), poolMax: 2 });
  const clickhouse = openClickHouse(config, WRITE_MS_MAX);
  try {
    const checked = await readFolder(db, clickhouse, folder);
    const { manifest, ids, services: made } = checked;
    if (ids.to(manifest.organizationId) !== manifest.organizationId && !asCopy) {
      throw new AppError(
        'conflict',
        `the organization ${manifest.organizationName} is in this installation already; --as-copy imports it once more, under new ids`,
      );
    }
    await rehearse(db, checked);
    try {
      await whileNothingExpires(db, async () => {
        await importEvents(clickhouse, folder, ids);
        await commitRows(db, config, checked);
      });
    } catch (error) {
      // Another import of the same folder may have committed, or this one, if its answer was lost: theirs stay.
      const gone = await storesOf(db.session())
        .services.listGone(made)
        .catch(() => []);
      await deleteEvents(clickhouse, gone);
      throw error;
    }
    const movedIds = [...ids.own].filter((id) => ids.to(id) !== id).length;
    const { organizationName } = manifest;
    return { organizationId: ids.to(manifest.organizationId), organizationName, movedIds, services: made.length };
  } finally {
    await clickhouse.close();
    await db.close();
  }
}

/** Folder of which every row may be imported. */
interface CheckedFolder extends ArrivingRows {
  readonly manifest: ExportManifest;
  /** Services under the ids they have here. */
  readonly services: readonly Id<'service'>[];
}

/** Reads and checks the whole folder. Throws `invalid_input` with file and line of what no export can contain. */
export async function readFolder(db: Database, clickhouse: ClickHouseClient, folder: string): Promise<CheckedFolder> {
  const manifest = readManifest(folder);
  const ids = new MovedIds();
  const columns = await readTableColumns((text) => db.sql.rows(text));
  await checkFolder({ folder, manifest, columns }, ids);
  await moveTakenIds(db, folder, ids);
  await moveServicesWithEvents(clickhouse, ids);
  const services = [...ids.own].filter((id) => id.startsWith('service_')).map((id) => asId('service', ids.to(id)));
  return { folder, manifest, ids, columns, orgId: manifest.organizationId, services };
}

/**
 * Does the work while no worker removes expired rows: it drops what is older than the retention of every service that it
 * knows, and services of an import that has not committed are not among them.
 */
async function whileNothingExpires(db: Database, work: () => Promise<void>): Promise<void> {
  const runtime = { db, clock: systemClock, log: { warn() {} } };
  const lease = { name: REMOVING_EXPIRED, holder: newId('job') };
  while (!(await takeLease(runtime, lease))) await delay(LOOK_AGAIN_MS);
  try {
    await whileHolding(runtime, lease, work);
  } finally {
    await new LeaseStore(db.session()).release(lease.name, lease.holder, null);
  }
}

/** Inserts all rows and rolls back, because points and events are written only if every row fits. */
async function rehearse(db: Database, checked: CheckedFolder): Promise<void> {
  const done = new Error('rehearsed');
  const now = systemClock.now();
  try {
    await db.transaction(async (session) => {
      await importRows(session, checked, now);
      await session.sql.run('set constraints all immediate');
      throw done;
    });
  } catch (error) {
    if (error !== done) throw error;
  }
}

async function commitRows(db: Database, config: RunningConfig, checked: CheckedFolder): Promise<void> {
  const { manifest, ids, services } = checked;
  const cipher = createCipher(config.appSecret, 'ingest-keys');
  const orgId = asId('org', ids.to(manifest.organizationId));
  await inUnitOfWork({ db, clock: systemClock, onOutbox: () => {} }, async (unit, session) => {
    await importRows(session, checked, unit.now);
    for (const id of services) {
      await unit.stores.ingestKeys.replace({ id, orgId }, sealIngestKeyPair(newIngestKeyPair(), cipher), unit.now);
    }
    await recordSystemChange(unit, {
      orgId,
      action: 'import_organization',
      via: 'system',
      target: orgId,
      before: null,
      after: { name: manifest.organizationName, exportedAt: manifest.exportedAt, from: manifest.organizationId },
    });
  });
}

/** Replaces ids that are taken, and ids that would refer to objects of others here: these become ids of nothing. */
async function moveTakenIds(db: Database, folder: string, ids: MovedIds): Promise<void> {
  const { people, addressProofs } = storesOf(db.session());
  /** Accounts that people of the export have here under the same id. */
  const stays = new Set<string>();
  for await (const line of linesOfFile(folder, 'users.jsonl')) {
    const { id, email } = parseLine(line);
    const account = await people.findUserByEmail(String(email));
    if (account === null || typeof id !== 'string') continue;
    if (await mayBeOfStranger({ addressProofs }, { ...account, userId: account.id })) {
      throw refusedLine(line, unprovenText(String(email)));
    }
    ids.accounts.add(account.id);
    if (account.id !== id) ids.move(id, account.id);
    else stays.add(id);
  }
  for (const [kind, table] of TABLES_OF_KINDS) {
    const matchingIds = [...new Set([...ids.own, ...ids.named])].filter(
      (id) => id.slice(0, id.lastIndexOf('_')) === kind,
    );
    for (let at = 0; at < matchingIds.length; at += LOOKED_UP) {
      const wanted = matchingIds.slice(at, at + LOOKED_UP).filter((id) => ids.to(id) === id);
      const taken = await db.sql.rows<{ id: string }>(`select id from ${table} where id = any ($1)`, [wanted]);
      for (const { id } of taken) if (!stays.has(id)) ids.move(id);
    }
  }
}

/** Replaces ids of services of which there are points or events here: an import that was killed has left them. */
async function moveServicesWithEvents(clickhouse: ClickHouseClient, ids: MovedIds): Promise<void> {
  const services = [...ids.own].filter((id) => id.startsWith('service_') && ids.to(id) === id);
  if (services.length === 0) return;
  for (const table of Object.keys(EVENT_FILES)) {
    const query = `SELECT DISTINCT service_id FROM ${table} WHERE service_id IN {services:Array(UUID)}`;
    const parameters = { services: services.map((id) => uuidOf(asId('service', id))) };
    for (const [uuid] of await readRows<[string]>(clickhouse, query, parameters)) ids.move(idOfUuid('service', uuid));
  }
}

/** Tables by the kind of their ids. */
const TABLES_OF_KINDS = [
  ['org', 'organizations'],
  ['user', 'users'],
  ['team', 'teams'],
  ['member', 'team_members'],
  ['calendar', 'holiday_calendars'],
  ['schedule', 'schedules'],
  ['override', 'schedule_overrides'],
  ['policy', 'escalation_policies'],
  ['service', 'services'],
  ['period', 'billing_periods'],
  ['rule', 'alert_rules'],
  ['maintenance', 'maintenance_windows'],
  ['monitor', 'monitors'],
  ['deploy', 'deploys'],
  ['dashboard', 'dashboards'],
  ['group', 'exception_groups'],
  ['activity', 'group_activity'],
  ['search', 'saved_searches'],
  ['incident', 'incidents'],
  ['note', 'incident_notes'],
  ['proposal', 'proposals'],
  ['notification', 'notifications'],
  ['audit', 'audit_log'],
  ['apikey', 'api_keys'],
  ['connection', 'connections'],
  ['session', 'sessions'],
  ['invitation', 'invitations'],
  ['reset', 'password_resets'],
  ['ingestkey', 'ingest_keys'],
  ['bundle', 'artifact_bundles'],
  ['subscription', 'push_subscriptions'],
  ['feed', 'calendar_feeds'],
] as const;

const TEXT = { type: 'string', maxLength: 1_000 };

const SHAPE = {
  type: 'object',
  properties: {
    tocsinExport: { type: 'integer' },
    version: TEXT,
    exportedAt: TEXT,
    organizationId: TEXT,
    organizationName: TEXT,
    postgresMigrations: { type: 'array', items: TEXT },
    files: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
  },
  required: [
    'tocsinExport',
    'version',
    'exportedAt',
    'organizationId',
    'organizationName',
    'postgresMigrations',
    'files',
  ],
};

/** Reads the manifest of an export. Throws if the folder is not an export, or if a later release wrote it. */
function readManifest(folder: string): ExportManifest {
  const file = path.join(folder, MANIFEST_FILE);
  if (!existsSync(file)) {
    throw new AppError('not_found', `${folder} has no ${MANIFEST_FILE}: it is no export, or one that did not end`);
  }
  const manifest = parse(readFileSync(file, 'utf8'));
  const unknown = manifest.postgresMigrations.find((name) => !migrationNames('postgres').has(name));
  if (manifest.tocsinExport !== EXPORT_FORMAT || unknown !== undefined) {
    throw new AppError(
      'invalid_input',
      `this export was made by another release (${manifest.version}): use a newer one`,
    );
  }
  const missing = Object.keys(manifest.files).find((name) => !existsSync(path.join(folder, path.basename(name))));
  if (missing !== undefined) throw new AppError('invalid_input', `the file ${missing} of the export is missing`);
  return manifest;
}

function parse(text: string): ExportManifest {
  let manifest: unknown = null;
  try {
    manifest = JSON.parse(text);
  } catch {
    // The error follows below.
  }
  const faults = findFaults(SHAPE, manifest);
  if (faults.length === 0) return manifest as ExportManifest;
  throw new AppError('invalid_input', `${MANIFEST_FILE} is not as an export writes it: ${faultText(faults)}`);
}
