import type { Command } from 'commander';

import { createCalendarFeed } from '#modules/schedules/operations/create_calendar_feed.ts';
import { revokeCalendarFeed } from '#modules/schedules/operations/revoke_calendar_feed.ts';
import { runAsOperator } from '#entry/cli/with_stores.ts';
import { print } from '#entry/cli/text.ts';
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
