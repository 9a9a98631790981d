import type { Command } from 'commander';

import { withStores } from '#entry/cli/with_stores.ts';
import { print, tableOf } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const LISTED_MAX = 1_000;

export function addSetAsideCommands(program: Command): void {
  const setAside = program
    .command('set-aside')
    .description('events that took too long to read, and jobs that made workers crash: tried again hours later');
  setAside
    .command('list')
    .description('list what is set aside, the oldest first')
    .option('--json', 'print JSON: setAside, each with id, serviceId, events, tries, setAsideAt, dueAt; and jobs')
    .action(async ({ json }: { json?: true }) => {
      const { rows, jobs } = await withStores(async ({ stores }) => ({
        rows: await stores.setAside.list(LISTED_MAX),
        jobs: await stores.setAsideJobs.list(LISTED_MAX),
      }));
      const shown = rows.map((row) => {
        return { ...row, setAsideAt: toTimestamp(row.setAsideAt), dueAt: toTimestamp(row.dueAt) };
      });
      const lines = shown.map(({ id, serviceId, events, tries, setAsideAt, dueAt }) => {
        return [id, serviceId, String(events), String(tries), setAsideAt, dueAt];
      });
      const shownJobs = jobs.map(({ keptId, jobName, serviceId, items, setAsideAt, readyAt }) => {
        return {
          id: keptId,
          jobName,
          serviceId,
          items,
          setAsideAt: toTimestampOrNull(setAsideAt),
          dueAt: toTimestamp(readyAt),
        };
      });
      const jobLines = shownJobs.map(({ id, serviceId, jobName, items, setAsideAt, dueAt }) => {
        return [id, serviceId, jobName, String(items), setAsideAt ?? '', dueAt];
      });
      const tables = [
        tableOf(['ID', 'SERVICE', 'EVENTS', 'TRIES', 'SET ASIDE', 'NEXT TRY'], lines),
        ...(jobs.length === 0 ? [] : [tableOf(['ID', 'SERVICE', 'JOB', 'ITEMS', 'SET ASIDE', 'NEXT TRY'], jobLines)]),
      ];
      print(json, { setAside: shown, jobs: shownJobs }, tables.join('\n'));
    });
  setAside
    .command('retry')
    .argument('<id>', 'as "set-aside list" shows it, or all')
    .description('try it again within minutes')
    .action(async (id: string) => {
      const chosen = id === 'all' ? null : id;
      const count = await withStores(async ({ stores, now }) => {
        return (await stores.setAside.retry(chosen, now)) + (await stores.setAsideJobs.retry(chosen));
      });
      if (count === 0 && id !== 'all') throw notSetAside(id);
      print(undefined, {}, `${count} to be tried again`);
    });
}

function notSetAside(id: string): AppError {
  return new AppError('not_found', `nothing with the id ${id} is set aside; "tocsin set-aside list" shows what is`);
}
