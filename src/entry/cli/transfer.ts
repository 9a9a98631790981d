import type { Command } from 'commander';

import { print } from '#entry/cli/text.ts';
import { loadConfig } from '#entry/config.ts';
import { requireStores, runningConfig } from '#entry/running_config.ts';

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
