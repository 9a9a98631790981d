import type { Command } from 'commander';

import { operatorIn, type Operator } from '#actions/operator.ts';
import { createCalendarFeed, revokeCalendarFeed } from '#actions/schedules/calendar_feed.ts';
import { createCipher } from '#auth/cipher.ts';
import { inStores } from '#entry/cli/in_stores.ts';
import { print } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Stores } from '#storage/postgres/stores.ts';

export function addCalendarCommands(program: Command): void {
  const calendar = program.command('calendar').description('schedules as calendars, for calendar programs');
  calendar
    .command('create')
    .description(
      'print the secret address of a schedule, a new one if it has none; whoever knows it can read the schedule',
    )
    .requiredOption('--schedule <id>', 'the schedule')
    .option('--json', 'print JSON: scheduleId, url, createdAt')
    .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
      const feed = await inStores(async (command) => {
        const { appSecret, baseUrl } = command.config;
        const settings = { cipher: createCipher(appSecret, 'calendar-feeds'), baseUrl };
        const operator = await operatorOf(command.stores, schedule);
        return await createCalendarFeed(command, operator, schedule, settings, command.by.origin);
      });
      print(json, feed, feed.url);
    });
  calendar
    .command('revoke')
    .description('revoke the secret address of a schedule; it is worthless from the next request on')
    .requiredOption('--schedule <id>', 'the schedule')
    .option('--json', 'print JSON: scheduleId, revoked')
    .action(async ({ schedule, json }: { schedule: string; json?: true }) => {
      const revoked = await inStores(async (command) => {
        const operator = await operatorOf(command.stores, schedule);
        return await revokeCalendarFeed(command, operator, schedule, command.by.origin);
      });
      print(json, revoked, `Revoked the calendar address of ${schedule}.`);
    });
}

async function operatorOf(stores: Stores, scheduleId: string): Promise<Operator> {
  const orgId = await stores.schedules.findOrganization(scheduleId);
  if (orgId === null) throw new AppError('not_found', `there is no schedule ${scheduleId}`);
  return operatorIn(orgId);
}
