import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { RECORDED_FILE, type RecordedError } from './labelled_event.ts';

/** A program with mistakes in closures, in a language that numbers them or names them by their place. */
interface CompiledProgram {
  readonly platform: string;
  /** Source in `compiled/`; `MORE` stands for closures that only the second build has, and that renumber all others. */
  readonly file: string;
  /** Commands that build and run it in its folder; the last prints its errors. */
  readonly commands: readonly (readonly string[])[];
  readonly more: string;
}

/** Each builds and prints its errors by its last command. */
const PROGRAMS: readonly CompiledProgram[] = [
  {
    platform: 'java',
    file: 'Shop.java',
    commands: [
      ['javac', 'Shop.java'],
      ['java', 'Shop'],
    ],
    more: 'Runnable more = () -> {}; Runnable other = new Runnable() { public void run() {} }; more.run(); other.run();',
  },
  {
    platform: 'php',
    file: 'shop.php',
    commands: [['php', 'shop.php']],
    more: '$more = function () {}; $other = new class {}; $more();',
  },
  {
    platform: 'go',
    file: 'shop.go',
    commands: [['go', 'run', '-gcflags=-l', 'shop.go']],
    more: 'func() {}(); defer func() {}()',
  },
  {
    platform: 'csharp',
    file: 'shop.cs',
    commands: [
      ['mcs', 'shop.cs'],
      ['mono', 'shop.exe'],
    ],
    more: 'Func<int, int> more = a => a; more(1);',
  },
  {
    platform: 'native',
    file: 'shop.cpp',
    commands: [['g++', '-O1', '-rdynamic', 'shop.cpp', '-o', 'shop', '-ldl'], ['./shop']],
    more: 'std::function<int()> more = [] { return 1; }; more();',
  },
  {
    platform: 'erlang',
    file: 'shop.erl',
    commands: [
      ['erlc', 'shop.erl'],
      ['erl', '-noshell', '-eval', 'shop:main([]), halt().'],
    ],
    more: '(fun() -> ok end)(), [X || X <- []]',
  },
  { platform: 'perl', file: 'shop.pl', commands: [['perl', 'shop.pl']], more: 'my $more = sub { 1 }; $more->();' },
];

/*
 * Builds each program of `compiled/` twice, from two folders, with closures more in the second build, and writes the
 * errors of both builds to `recorded.json`. Run it by hand with the compilers of Debian: the bench needs none.
 */
const folder = mkdtempSync(path.join(os.tmpdir(), 'shop-'));
const recorded = PROGRAMS.flatMap((program) => [
  ...errorsOf(program, 'release-1', ''),
  ...errorsOf(program, 'release-2/app', program.more),
]);
writeFileSync(RECORDED_FILE, `${JSON.stringify(recorded, null, 2).replaceAll(folder, '/srv/shop')}\n`);
rmSync(folder, { recursive: true });
console.log(`${recorded.length} errors of ${PROGRAMS.length} programs`);

function errorsOf(
  { platform, file, commands, more }: CompiledProgram,
  release: string,
  extra: string,
): RecordedError[] {
  const place = path.join(folder, platform, release);
  mkdirSync(place, { recursive: true });
  const nothing = platform === 'erlang' ? 'ok' : '';
  let count = 0;
  const closures = (): string => {
    count += 1;
    return extra === '' ? nothing : more.replaceAll(/\b(more|other)\b/g, `$1${count}`);
  };
  const source = readFileSync(path.join(import.meta.dirname, 'compiled', file), 'utf8');
  writeFileSync(path.join(place, file), source.replaceAll('MORE', closures));
  const outputs = commands.map(([command = '', ...args]) =>
    execFileSync(command, args, { cwd: place, encoding: 'utf8', env: { ...process.env, HOME: folder } }),
  );
  const thrown = JSON.parse(outputs.at(-1) ?? '[]') as Omit<RecordedError, 'platform'>[];
  return thrown.map((error) => ({ platform, ...error }));
}
