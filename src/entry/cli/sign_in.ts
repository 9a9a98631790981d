import type { Command } from 'commander';

import { print } from '#entry/cli/text.ts';
import { getOrganization, runAsOperator } from '#entry/cli/with_stores.ts';
import { addSignInDomain } from '#modules/sign_in/operations/add_sign_in_domain.ts';
import { setAddressLists } from '#modules/sign_in/operations/set_address_lists.ts';

export function addSignInCommands(program: Command): void {
  const signIn = program.command('sign-in').description('how people sign in to an organization');
  signIn
    .command('domain')
    .description('vouch for a mail domain of an organization, whose people then sign in through its provider')
    .requiredOption('--org <id>', 'organization')
    .requiredOption('--domain <domain>', 'mail domain, such as example.com')
    .option('--json', 'print JSON: domain, organizationId')
    .action(async ({ org, domain, json }: { org: string; domain: string; json?: true }) => {
      const proven = await runAsOperator(addSignInDomain, async (stores) => {
        return { orgId: await getOrganization(stores, org), input: { domain } };
      });
      print(json, { domain: proven.domain, organizationId: org }, `The domain ${proven.domain} counts as proven.`);
    });
  signIn
    .command('open')
    .description('remove the lists of networks of an organization, when they keep everybody out')
    .requiredOption('--org <id>', 'organization')
    .option('--json', 'print JSON: organizationId')
    .action(async ({ org, json }: { org: string; json?: true }) => {
      await runAsOperator(setAddressLists, async (stores) => {
        return { orgId: await getOrganization(stores, org), input: { keyNetworks: null, sessionNetworks: null } };
      });
      print(json, { organizationId: org }, `The organization ${org} admits every address again.`);
    });
}
