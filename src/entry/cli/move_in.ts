import { setTimeout } from 'node:timers/promises';

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';

import { print } from '#entry/cli/text.ts';
import { growHeapSlowly } from '#entry/memory/memory.ts';
import { systemClock } from '#kernel/time.ts';
import { addressOf, Ask } from '#modules/moving_in/ask.ts';
import { keepInFolder, keyInFile } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS, GOALERT_QUERY } from '#modules/moving_in/ask_tools.ts';
import type { ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn, writeMoveIn } from '#modules/moving_in/move_in.ts';
import { type FolderContent, readFolder } from '#modules/moving_in/read_folder.ts';
import { AppError } from '#kernel/errors.ts';

interface Wanted {
  readonly from?: string;
  readonly keyFile?: string;
  readonly baseUrl?: string;
  readonly keep?: string;
  readonly proofFrom?: number;
  readonly out?: string;
  readonly report?: string;
  readonly printQuery?: true;
  readonly json?: true;
}

/** Time to wait for another key where somebody watches, and where nobody does. */
const KEY_WAIT_MS = 900_000;
const KEY_WAIT_UNATTENDED_MS = 20_000;

/** Adds the command that turns what another tool says into a configuration file and a report; it needs no stores. */
export function addMoveInCommand(program: Command): void {
  program
    .command('move-in')
    .description('turn what another tool says into a configuration file and a report; nothing else is written')
    .addArgument(new Argument('<tool>', 'the tool').choices(Object.keys(MOVE_IN_TOOLS)))
    .option('--from <folder>', 'folder with answers or an export of the tool')
    .addOption(
      new Option('--key-file <file>', 'file with a read-only key of the tool, which is then asked').conflicts('from'),
    )
    .option('--base-url <url>', 'address of the tool, where it is not the usual one')
    .addOption(
      new Option(
        '--keep <folder>',
        'folder in which answers are kept, so that a reading that broke off goes on',
      ).conflicts('from'),
    )
    .option(
      '--proof-from <date>',
      'first day of the proof, such as 2027-03-01; around both changes of clocks without it',
      day,
    )
    .option('--out <file>', 'configuration file to write')
    .option('--report <file>', 'report to write as JSON; as Markdown beside it')
    .option('--print-query', 'print the query that a key of GoAlert has to be made for, and do nothing else')
    .option('--json', 'print JSON: read, verdicts, minutes, equal, files')
    .action(runMoveIn);
}

async function runMoveIn(toolName: string, wanted: Wanted): Promise<void> {
  const { proofFrom, out, report, json } = wanted;
  const tool = MOVE_IN_TOOLS[toolName];
  if (tool === undefined) throw new AppError('invalid_input', `there is no tool ${toolName}`);
  if (wanted.printQuery) {
    if (toolName !== 'goalert') throw new AppError('invalid_input', `keys of ${tool.title} need no query`);
    return void process.stdout.write(`${GOALERT_QUERY}\n`);
  }
  if (out === undefined || report === undefined)
    throw new AppError('invalid_input', 'say where to write: --out FILE and --report FILE');
  growHeapSlowly();
  const time = { now: systemClock.now().epochMilliseconds, proofFrom: proofFrom ?? null };
  const { documents, unreadable } = await readAnswers(toolName, wanted, time);
  const result = moveIn(tool, documents, unreadable, time);
  const files = await writeMoveIn({ out, report }, result);
  const { read, items, proof } = result.report;
  const verdicts = Object.fromEntries(
    [...Map.groupBy(items, ({ verdict }) => verdict)].map(([verdict, list]) => [verdict, list.length]),
  );
  const sum = (field: 'minutes' | 'equal'): number => proof.reduce((total, part) => total + part[field], 0);
  const [minutes, equal] = [sum('minutes'), sum('equal')];
  const counted = Object.entries(verdicts)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(', ');
  const proven = `${equal} of ${minutes} minutes of the schedules are equal`;
  print(
    json,
    { read, verdicts, minutes, equal, files },
    `Read ${items.length} items: ${counted}. ${proven}. Wrote ${files.join(', ')}.`,
  );
}

async function readAnswers(
  toolName: string,
  { from, keyFile, baseUrl, keep }: Wanted,
  time: ReadingTime,
): Promise<FolderContent> {
  if (from !== undefined) return await readFolder(from);
  if (keyFile === undefined) throw new AppError('invalid_input', 'say where to read: --from FOLDER or --key-file FILE');
  const asked = ASKED_TOOLS[toolName];
  if (asked === undefined)
    throw new AppError('invalid_input', `${toolName} is read from files only: give --from FOLDER`);
  const ask = new Ask({
    baseUrl: addressOf(baseUrl ?? asked.baseUrl, '--base-url'),
    key: keyInFile(keyFile),
    headers: asked.headers,
    kept: keep === undefined ? null : keepInFolder(keep),
    keyWaitMs: process.stderr.isTTY ? KEY_WAIT_MS : KEY_WAIT_UNATTENDED_MS,
    outside: {
      fetch: async (url, init) => await fetch(url, init),
      sleep: async (ms) => await setTimeout(ms),
      say: (sentence) => void process.stderr.write(`tocsin: ${sentence}\n`),
      now: () => systemClock.now().epochMilliseconds,
    },
  });
  await asked.ask(ask, time);
  return { documents: ask.documents, unreadable: [] };
}

function day(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Date.parse(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a date such as 2027-03-01.');
  return Math.floor(ms / 60_000) * 60_000;
}
