import { readFileSync } from 'node:fs';
import path from 'node:path';

import { Command } from 'commander';
import { expect, test } from 'vitest';

import { addCommands } from '#entry/cli/add_commands.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const DOCS = [
  'README.md',
  'src/docs/backing_up.md',
  'src/docs/moving.md',
  'src/docs/clickhouse_clusters.md',
  'src/docs/migrating.md',
];

/** Every command with its options, by how it is called: "key create". */
function commands(): Map<string, readonly string[]> {
  const program = new Command('tocsin');
  addCommands(program, () => {});
  const leaves = (command: Command, names: readonly string[]): [string, readonly string[]][] =>
    command.commands.length === 0
      ? [[names.join(' '), command.options.flatMap(({ long }) => long ?? [])]]
      : command.commands.flatMap((child) => leaves(child, [...names, child.name()]));
  return new Map(program.commands.flatMap((command) => leaves(command, [command.name()])));
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('the README lists every command', () => {
  const [, listed = ''] = /## Command line[\s\S]*?```\n([\s\S]*?)```/.exec(read('README.md')) ?? [];
  const missing = [...commands().keys()].filter((name) => {
    const [noun = '', verb = ''] = name.split(' ');
    return !listed.split('\n').some((line) => line.startsWith(noun) && line.includes(verb));
  });
  expect(missing).toEqual([]);
});

test('every option that the README and the guides give to a command exists', () => {
  const known = commands();
  const unknown = DOCS.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line) => {
        const found = [...known].filter(([name]) => new RegExp(`(^|tocsin -- |tocsin )${name}\\b`).test(line));
        const [name, options] = found.toSorted(([a], [b]) => b.length - a.length)[0] ?? [];
        if (options === undefined) return [];
        const given = [...line.matchAll(/ (--[a-z][a-z-]+)/g)].map(([, option = '']) => option);
        return given
          .filter((option) => option !== '--silent' && !options.includes(option))
          .map((option) => `${file}: ${name} ${option}`);
      }),
  );
  expect(unknown).toEqual([]);
});
