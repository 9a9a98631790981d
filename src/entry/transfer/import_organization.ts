import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { createCipher } from '#auth/cipher.ts';
import { newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_keys.ts';
import { linesOfFile, parseLine } from '#entry/transfer/json_lines.ts';
import { importEvents, deleteEvents } from '#entry/transfer/import_events.ts';
import { importRows } from '#entry/transfer/import_rows.ts';
import { MovedIds } from '#entry/transfer/moved_ids.ts';
import {
  EXPORT_FORMAT,
  type ExportManifest,
  MANIFEST_FILE,
  ORGANIZATION_TABLES,
} from '#entry/transfer/organization_tables.ts';
import { migrationNames } from '#entry/migrate.ts';
import type { RunningConfig } from '#entry/running_config.ts';
import { AppError } from '#kernel/errors.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { type Database, directUrlOf, openDatabase } from '#storage/postgres/database.ts';
import type { PeopleStore } from '#storage/postgres/people_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { recordSystemChange } from '#storage/postgres/system_change.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** What an import has made. */
export interface ImportSummary {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Ids that were taken and became others, users with an account here included. */
  readonly movedIds: number;
  readonly services: number;
}

const WRITE_MS_MAX = 3_600_000;
const LOOKED_UP = 2_000;

/**
 * Reads an exported organization into this installation, in one transaction: all of it is there, or nothing. Ids stay where
 * they are free. Somebody with an account here, by mail address, becomes a member with that account. Open incidents come
 * without their timers, for the other installation pages until it is stopped.
 */
export async function importOrganization(
  config: RunningConfig,
  folder: string,
  { asCopy }: { readonly asCopy: boolean },
): Promise<ImportSummary> {
  const manifest = readManifest(folder);
  const db = await openDatabase({ url: directUrlOf(config), poolMax: 2 });
  const clickhouse = openClickHouse(config, WRITE_MS_MAX);
  try {
    const ids = new MovedIds();
    await noteIds(folder, ids);
    await moveTakenIds(db, folder, ids);
    if (ids.to(manifest.organizationId) !== manifest.organizationId && !asCopy) {
      throw new AppError(
        'conflict',
        `the organization ${manifest.organizationName} is in this installation already; --as-copy imports it once more, under new ids`,
      );
    }
    const services = [...ids.own].filter((id) => id.startsWith('service_')).map((id) => asId('service', id));
    const made = services.map((id) => asId('service', ids.to(id)));
    try {
      await importEvents(clickhouse, folder, { ids, services });
      await commitRows(db, config, { folder, manifest, ids, services: made });
    } catch (error) {
      await deleteEvents(clickhouse, made);
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

interface Arriving {
  readonly folder: string;
  readonly manifest: ExportManifest;
  readonly ids: MovedIds;
  readonly services: readonly Id<'service'>[];
}

async function commitRows(
  db: Database,
  config: RunningConfig,
  { folder, manifest, ids, services }: Arriving,
): Promise<void> {
  const cipher = createCipher(config.appSecret, 'ingest-keys');
  const orgId = asId('org', ids.to(manifest.organizationId));
  await inUnitOfWork({ db, clock: systemClock, onOutbox: () => {} }, async (unit, session) => {
    await importRows(session, { folder, ids, orgId: manifest.organizationId, now: unit.now });
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

function readManifest(folder: string): ExportManifest {
  const file = path.join(folder, MANIFEST_FILE);
  if (!existsSync(file)) {
    throw new AppError('not_found', `${folder} has no ${MANIFEST_FILE}: it is no export, or one that did not end`);
  }
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as ExportManifest;
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

/** Everything in the export that has an id. */
async function noteIds(folder: string, ids: MovedIds): Promise<void> {
  for (const { table } of ORGANIZATION_TABLES) {
    for await (const line of linesOfFile(folder, `${table}.jsonl`)) {
      const { id } = parseLine(table, line);
      if (typeof id === 'string') ids.own.add(id);
    }
  }
}

async function moveTakenIds(db: Database, folder: string, ids: MovedIds): Promise<void> {
  const { people } = storesOf(db.session());
  for await (const line of linesOfFile(folder, 'users.jsonl')) {
    const { id, email } = parseLine('users', line);
    const known = await people.findUserByEmail(String(email));
    if (known !== null && typeof id === 'string' && known.id !== id) ids.move(id, known.id);
  }
  for (const [kind, table] of TABLES_OF_KINDS) {
    const own = [...ids.own].filter((id) => id.slice(0, id.lastIndexOf('_')) === kind);
    for (let at = 0; at < own.length; at += LOOKED_UP) {
      const wanted = own.slice(at, at + LOOKED_UP).filter((id) => ids.to(id) === id);
      const taken = await db.sql.rows<{ id: string }>(`select id from ${table} where id = any ($1)`, [wanted]);
      for (const { id } of taken) if (table !== 'users' || !(await isSamePerson(people, folder, id))) ids.move(id);
    }
  }
}

/** The account of before, for an import into the installation that the export is from. */
async function isSamePerson(people: PeopleStore, folder: string, id: string): Promise<boolean> {
  const here = await people.findUser(asId('user', id));
  for await (const line of linesOfFile(folder, 'users.jsonl')) {
    const { id: own, email } = parseLine('users', line);
    if (own === id) return typeof email === 'string' && email.toLowerCase() === here?.email.toLowerCase();
  }
  return false;
}

/** Where things with an id are, in the order in which they are imported. */
const TABLES_OF_KINDS = [
  ['org', 'organizations'],
  ['user', 'users'],
  ['team', 'teams'],
  ['member', 'team_members'],
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
  ['incident', 'incidents'],
  ['note', 'incident_notes'],
  ['proposal', 'proposals'],
  ['notification', 'notifications'],
  ['audit', 'audit_log'],
] as const;
