/**
 * Compiles what `npm start` loads, so that the first start is faster; `npm ci` runs this at its end. Modules are loaded,
 * nothing is started. A failure here only means a slower first start.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { type Memory, MEMORY } from '#entry/memory/memory.ts';
import { WAIT_ARGUMENT } from '#entry/program.ts';
import { USE_PACKED, usePackedPrograms } from '#infra/packages/packed.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Where `npm start` looks for it. */
const CACHE = path.join(ROOT, 'node_modules/.cache/node');

interface Loaded {
  /** Programs with their arguments, which load what they need and wait for their supervisor. */
  readonly programs: readonly (readonly string[])[];
  /** Modules that other programs import first. */
  readonly modules: readonly string[];
}

/** What is compiled. Compiled code depends on the flags that a program runs with. */
const LOADED: Readonly<Record<Memory, Loaded>> = {
  ample: {
    programs: [['src/entry/api.ts'], ['workers/main.ts', 'worker']],
    modules: [
      '#entry/program.ts',
      '#entry/first_run.ts',
      '#entry/migrate_stores.ts',
      ...migrationsOf('postgres'),
      ...migrationsOf('clickhouse'),
    ],
  },
  frugal: {
    programs: [['workers/main.ts', 'pager']],
    modules: [
      '#infra/embedded/installation.ts',
      '#infra/embedded/data_folder.ts',
      '#infra/embedded/banner.ts',
      '@tocsin/phone-simulator',
      '@tocsin/chdb-server',
    ],
  },
};
/** Exit status of Node when nothing is left to do, but something is awaited: the supervisor, which never comes. */
const STILL_WAITING = 13;

const began = performance.now();
if (existsSync(CACHE)) {
  console.log('The modules of npm start are compiled already.');
} else {
  const isCompiled = compile('ample', LOADED.ample) && compile('frugal', LOADED.frugal);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    isCompiled
      ? `Compiled the modules of npm start in ${seconds} s.`
      : 'Could not compile ahead; the first start will be slower.',
  );
}

function compile(memory: Memory, { programs, modules }: Loaded): boolean {
  const imports = modules.map((name) => `await import(${JSON.stringify(name)});`).join('\n');
  return (
    run(memory, USE_PACKED, ['--input-type=module', '-e', imports]) === 0 &&
    programs.every((program) => run(memory, usePackedPrograms(), [...program, WAIT_ARGUMENT]) === STILL_WAITING)
  );
}

function run(memory: Memory, flags: readonly string[], args: readonly string[]): number | null {
  return spawnSync(process.execPath, [...MEMORY[memory], ...flags, ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    stdio: 'ignore',
  }).status;
}

function migrationsOf(store: 'postgres' | 'clickhouse'): string[] {
  return readdirSync(path.join(ROOT, 'infra/migrations', store))
    .filter((name) => /^\d{4}_.*\.ts$/.test(name))
    .map((name) => `#infra/migrations/${store}/${name}`);
}
