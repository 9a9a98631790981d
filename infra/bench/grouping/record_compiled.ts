import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { COMPILED_PROGRAMS, type CompiledProgram } from './compiled.ts';
import { RECORDED_FILE, type RecordedError } from './recorded.ts';

/*
 * Builds each program of `compiled.ts` twice, from two folders, with closures more in the second build, and writes the
 * errors of both builds to `recorded.json`. Run it by hand with the compilers of Debian: the bench needs none.
 */
const folder = mkdtempSync(path.join(os.tmpdir(), 'shop-'));
const recorded = COMPILED_PROGRAMS.flatMap((program) => [
  ...errorsOf(program, 'release-1', ''),
  ...errorsOf(program, 'release-2/app', program.more),
]);
writeFileSync(RECORDED_FILE, `${JSON.stringify(recorded, null, 2).replaceAll(folder, '/srv/shop')}\n`);
rmSync(folder, { recursive: true });
console.log(`${recorded.length} errors of ${COMPILED_PROGRAMS.length} programs`);

function errorsOf(
  { platform, file, commands, source, more }: CompiledProgram,
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
  writeFileSync(path.join(place, file), source.replaceAll('MORE', closures));
  const outputs = commands.map(([command = '', ...args]) =>
    execFileSync(command, args, { cwd: place, encoding: 'utf8', env: { ...process.env, HOME: folder } }),
  );
  const thrown = JSON.parse(outputs.at(-1) ?? '[]') as Omit<RecordedError, 'platform'>[];
  return thrown.map((error) => ({ platform, ...error }));
}
