import type { Command } from 'commander';

import { createOrganization } from '#modules/organizations/operations/add_member.ts';
import { getOrganization, runAsOperator, withStores } from '#entry/cli/with_stores.ts';
import { notBlank, print, tableOf } from '#entry/cli/text.ts';
import { toTimestamp } from '#kernel/time.ts';
import { addSignInDomain } from '#modules/sign_in/operations/domains.ts';
import { setAddressLists } from '#modules/sign_in/operations/sign_in_settings.ts';
import { createCalendarFeed, revokeCalendarFeed } from '#modules/schedules/operations/calendar_feeds.ts';
import { AppError } from '#kernel/errors.ts';
import type { Stores } from '#modules/stores.ts';

export function addCalendarCommands(program: Command): void {
  const calendar = program.command('calendar').description('schedules as calendars, for calendar programs');
  calendar
    .command('create')
    .description(
      'print the secret address of a schedule, a new one if it has none; everyone who knows it can read the schedule',
    )
    .requiredOption('--schedule <id>', 'the schedule')
    .option('--json', 'print JSON: scheduleId, url, createdAt')
    .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
      const feed = await runAsOperator(createCalendarFeed, (stores) => ofSchedule(stores, schedule));
      print(json, feed, feed.url);
    });
  calendar
    .command('revoke')
    .description('revoke the secret address of a schedule; it stops working with the next request')
    .requiredOption('--schedule <id>', 'the schedule')
    .option('--json', 'print JSON: scheduleId, revoked')
    .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
      const revoked = await runAsOperator(revokeCalendarFeed, (stores) => ofSchedule(stores, schedule));
      print(json, revoked, `Revoked the calendar address of ${schedule}.`);
    });
}

async function ofSchedule({ schedules }: Stores, scheduleId: string) {
  const orgId = await schedules.findOrganization(scheduleId);
  if (orgId === null) throw new AppError('not_found', `there is no schedule ${scheduleId}`);
  return { orgId, input: { scheduleId } };
}

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
