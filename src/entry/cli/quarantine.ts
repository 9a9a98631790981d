import type { Command } from 'commander';

import { withStores } from '#entry/cli/with_stores.ts';
import { print, tableOf } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const LISTED_MAX = 1_000;

export function addQuarantineCommands(program: Command): void {
  const quarantine = program
    .command('quarantine')
    .description('events that took too long to read, and jobs that made workers crash: tried again hours later');
  quarantine
    .command('list')
    .description('list what is quarantined, the oldest first')
    .option('--json', 'print JSON: events, each with id, serviceId, events, tries, quarantinedAt, dueAt; and jobs')
    .action(async ({ json }: { json?: true }) => {
      const { rows, jobs } = await withStores(async ({ stores }) => ({
        rows: await stores.quarantinedEvents.list(LISTED_MAX),
        jobs: await stores.quarantinedJobs.list(LISTED_MAX),
      }));
      const shown = rows.map((row) => {
        return { ...row, quarantinedAt: toTimestamp(row.quarantinedAt), dueAt: toTimestamp(row.dueAt) };
      });
      const lines = shown.map(({ id, serviceId, events, tries, quarantinedAt, dueAt }) => {
        return [id, serviceId, String(events), String(tries), quarantinedAt, dueAt];
      });
      const shownJobs = jobs.map(({ jobId, jobName, serviceId, items, quarantinedAt, readyAt }) => {
        return {
          id: jobId,
          jobName,
          serviceId,
          items,
          quarantinedAt: toTimestampOrNull(quarantinedAt),
          dueAt: toTimestamp(readyAt),
        };
      });
      const jobLines = shownJobs.map(({ id, serviceId, jobName, items, quarantinedAt, dueAt }) => {
        return [id, serviceId, jobName, String(items), quarantinedAt ?? '', dueAt];
      });
      const tables = [
        tableOf(['ID', 'SERVICE', 'EVENTS', 'TRIES', 'QUARANTINED', 'NEXT TRY'], lines),
        ...(jobs.length === 0 ? [] : [tableOf(['ID', 'SERVICE', 'JOB', 'ITEMS', 'QUARANTINED', 'NEXT TRY'], jobLines)]),
      ];
      print(json, { events: shown, jobs: shownJobs }, tables.join('\n'));
    });
  quarantine
    .command('retry')
    .argument('<id>', 'as "quarantine list" shows it, or all')
    .description('try it again within minutes')
    .action(async (id: string) => {
      const chosen = id === 'all' ? null : id;
      const count = await withStores(async ({ stores, now }) => {
        return (await stores.quarantinedEvents.retry(chosen, now)) + (await stores.quarantinedJobs.retry(chosen));
      });
      if (count === 0 && id !== 'all') throw notQuarantined(id);
      print(undefined, {}, `${count} to be tried again`);
    });
}

function notQuarantined(id: string): AppError {
  return new AppError('not_found', `nothing with the id ${id} is quarantined; "tocsin quarantine list" shows what is`);
}
