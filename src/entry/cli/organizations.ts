import type { Command } from 'commander';

import { createOrganization } from '#modules/organizations/operations/create_organization.ts';
import { withStores } from '#entry/cli/with_stores.ts';
import { notBlank, print, tableOf } from '#entry/cli/text.ts';
import { toTimestamp } from '#kernel/time.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('organizations');
  org
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'its name', notBlank)
    .option('--json', 'print JSON: organizationId')
    .action(async ({ name, json }: { name: string; json?: true }) => {
      const organizationId = await withStores((command) => createOrganization(command, name, command.by));
      print(json, { organizationId }, `Created the organization ${organizationId}.`);
    });
  org
    .command('list')
    .description('list the organizations, oldest first')
    .option('--json', 'print JSON: organizations, each with organizationId, name, createdAt')
    .action(async ({ json }: { json?: true }) => {
      const existing = await withStores(({ stores }) => stores.people.listOrganizations());
      const organizations = existing.map(({ id, name, createdAt }) => {
        return { organizationId: id, name, createdAt: toTimestamp(createdAt) };
      });
      const rows = organizations.map(({ organizationId, name, createdAt }) => [organizationId, name, createdAt]);
      print(json, { organizations }, tableOf(['ORGANIZATION', 'NAME', 'CREATED'], rows));
    });
}
