import type { Command } from 'commander';

import { inStores } from '#entry/cli/in_stores.ts';
import { print, tableOf } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';

const LISTED_MAX = 1_000;

export function addSetAsideCommands(program: Command): void {
  const setAside = program
    .command('set-aside')
    .description('events that took too long to read: they hold up nothing, and are tried again hours later');
  setAside
    .command('list')
    .description('list what is set aside, the oldest first')
    .option('--json', 'print JSON: setAside, each with id, serviceId, events, tries, setAsideAt, dueAt')
    .action(async ({ json }: { json?: true }) => {
      const rows = await inStores(({ stores }) => stores.setAside.list(LISTED_MAX));
      const shown = rows.map((row) => {
        return { ...row, setAsideAt: toTimestamp(row.setAsideAt), dueAt: toTimestamp(row.dueAt) };
      });
      const lines = shown.map(({ id, serviceId, events, tries, setAsideAt, dueAt }) => {
        return [id, serviceId, String(events), String(tries), setAsideAt, dueAt];
      });
      print(json, { setAside: shown }, tableOf(['ID', 'SERVICE', 'EVENTS', 'TRIES', 'SET ASIDE', 'NEXT TRY'], lines));
    });
  setAside
    .command('retry')
    .argument('<id>', 'as "set-aside list" shows it, or all')
    .description('try it again within minutes')
    .action(async (id: string) => {
      const count = await inStores(({ stores, now }) => stores.setAside.retry(id === 'all' ? null : id, now));
      if (count === 0 && id !== 'all') throw nothingCalled(id);
      print(undefined, {}, `${count} to be tried again`);
    });
}

function nothingCalled(id: string): AppError {
  return new AppError('not_found', `nothing is set aside as ${id}; "tocsin set-aside list" shows what is`);
}
