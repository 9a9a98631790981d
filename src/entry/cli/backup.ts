import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';

import type { BackupSummary } from '#entry/backup/write_backup.ts';
import { print } from '#entry/cli/text.ts';
import { type Config, loadConfig, requireStores, runningConfig, type RunningConfig } from '#entry/config.ts';
import { AppError } from '#kernel/errors.ts';

/** Adds the backup and restore commands. Store clients and archive code are loaded only when they are needed. */
export function addBackupCommands(program: Command, onEmbeddedStores: () => void): void {
  program
    .command('backup')
    .description('write a backup of all stores, also while Tocsin runs; encrypted if BACKUP_KEY is set')
    .argument('<file>', 'a file that does not exist yet, or - for standard output')
    .option('--json', 'print JSON: id, snapshotAt, bytes, contentBytes, isEncrypted, seconds')
    .action(async (file: string, { json }: { json?: true }) => {
      if (file !== '-' && existsSync(file)) throw new AppError('conflict', `${file} exists already: name another file`);
      const config = await findStores();
      if (config === null) return onEmbeddedStores();
      const startedAt = performance.now();
      const summary = await backUp(config, file);
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      const sealed = summary.isEncrypted ? 'encrypted' : 'not encrypted, because BACKUP_KEY is not set';
      const text = `Wrote a backup of ${summary.snapshotAt}: ${megabytes(summary)} in ${seconds} s, ${sealed}.`;
      if (file === '-') process.stderr.write(`${text}\n`);
      else print(json, { ...summary, seconds }, text);
      if (!summary.isEncrypted) {
        process.stderr.write('tocsin: the backup does not hold APP_SECRET; keep that as well, at another place\n');
      }
    });
  program
    .command('restore')
    .description('restore a backup into an empty installation; no process of it may be running')
    .argument('<file>', 'what "tocsin backup" wrote')
    .option('--replace', 'delete what the installation has')
    .option('--as-is', 'take rows that no operation would write; what cannot be read is set aside alone')
    .option('--json', 'print JSON: id, snapshotAt, seconds')
    .action(async (file: string, { replace, asIs, json }: { replace?: true; asIs?: true; json?: true }) => {
      if (!existsSync(file)) throw new AppError('not_found', `there is no file ${file}`);
      const configured = loadConfig();
      const config = (await runningConfig(configured).catch(() => null)) ?? configured;
      const { databaseUrl, clickhouseUrl } = config;
      if (databaseUrl === undefined || clickhouseUrl === undefined) return onEmbeddedStores();
      const { restoreBackup } = await import('#entry/backup/restore_backup.ts');
      const startedAt = performance.now();
      const restored = await restoreBackup(
        { ...config, databaseUrl, clickhouseUrl },
        { file, replace: replace === true, asIs: asIs === true },
      );
      keepAppSecret(config, restored.appSecret);
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      const { id, snapshotAt } = restored;
      print(
        json,
        { id, snapshotAt, seconds },
        `Restored the backup of ${snapshotAt} in ${seconds} s. Escalations go on when a pager starts.`,
      );
    });
}

/** Returns the settings with the stores; null if embedded stores are to be used but are not running. */
async function findStores(): Promise<RunningConfig | null> {
  const config = loadConfig();
  if (config.databaseUrl !== undefined && config.clickhouseUrl !== undefined) return requireStores(config);
  const running = await runningConfig(config).catch(() => null);
  return running === null ? null : requireStores(running);
}

/** Writes the backup under a temporary name until it is complete and flushed to the disk. */
async function backUp(config: RunningConfig, file: string): Promise<BackupSummary> {
  const { writeBackup } = await import('#entry/backup/write_backup.ts');
  if (file === '-') return await writeBackup(config, process.stdout);
  const draft = `${path.resolve(file)}.${process.pid}.incomplete`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    const sink = handle.createWriteStream({ flush: true });
    const summary = await writeBackup(config, sink);
    sink.end();
    await finished(sink);
    await rename(draft, file);
    return summary;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

function megabytes({ bytes }: BackupSummary): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Adds the export and import commands. Their code is loaded only when one of them runs. */
export function addTransferCommands(program: Command): void {
  program
    .command('export')
    .description('write one organization as open files, without secrets, to read them elsewhere')
    .requiredOption('--organization <name>', 'its name or id')
    .argument('<folder>', 'a new folder')
    .option('--json', 'print JSON: organizationId, organizationName, exportedAt, files')
    .action(async (folder: string, { organization, json }: { organization: string; json?: true }) => {
      const { exportOrganization } = await import('#entry/transfer/export_organization.ts');
      const config = requireStores(await runningConfig(loadConfig()));
      const { organizationId, organizationName, exportedAt, files } = await exportOrganization(
        config,
        organization,
        folder,
      );
      const rows = Object.values(files).reduce((sum, count) => sum + count, 0);
      print(
        json,
        { organizationId, organizationName, exportedAt, files },
        `Wrote ${organizationName} into ${folder}: ${rows.toLocaleString('en')} rows in ${Object.keys(files).length} files.`,
      );
    });
  program
    .command('import')
    .description('read an exported organization into this installation: all of it, or nothing')
    .argument('<folder>', 'what "tocsin export" wrote')
    .option('--as-copy', 'import even if the organization already exists here; it then exists twice')
    .option('--json', 'print JSON: organizationId, organizationName, movedIds, services')
    .action(async (folder: string, { asCopy, json }: { asCopy?: true; json?: true }) => {
      const { importOrganization } = await import('#entry/transfer/import_organization.ts');
      const config = requireStores(await runningConfig(loadConfig()));
      const made = await importOrganization(config, folder, { asCopy: asCopy === true });
      print(
        json,
        made,
        `Imported ${made.organizationName} as ${made.organizationId}. Its ${made.services} services have new ingestion keys; ` +
          'people without an account here set a password by "forgot password" or "tocsin user password".',
      );
    });
}

/** File where `npm start` looks for the secret of an installation with embedded stores when APP_SECRET is not set. */
const SECRET_FILE = 'app-secret';

/** Stores the secret of a backup where the next start finds it, unless one is set. */
export function keepAppSecret({ dataDir, appSecret: configured }: Config, appSecret: string | null): void {
  const file = path.join(dataDir, SECRET_FILE);
  if (appSecret === null || configured !== undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${appSecret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}
