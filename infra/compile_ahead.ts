/**
 * Compiles what `npm start` loads, so that the first start is faster; `npm ci` runs this at its end. Modules are loaded,
 * nothing is started. A failure here only means a slower first start.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { MEMORY } from '#entry/memory/memory.ts';
import { USE_PACKED } from '#infra/packages/packed.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
/** Folder in which `npm start` looks for it. */
const CACHE = path.join(ROOT, 'node_modules/.cache/node');

/** Modules that each program imports first. Compiled code depends on the flags that a program runs with. */
const LOADED: Readonly<Record<keyof typeof MEMORY, readonly string[]>> = {
  ample: [
    '#entry/http/app.ts',
    '#entry/compose.ts',
    '#entry/first_run.ts',
    '#entry/program.ts',
    '#workers/worker_role.ts',
    '#entry/migrate_stores.ts',
    ...migrationsOf('postgres'),
    ...migrationsOf('clickhouse'),
  ],
  frugal: [
    '#infra/embedded/installation.ts',
    '#infra/embedded/data_folder.ts',
    '#infra/embedded/banner.ts',
    '@tocsin/phone-simulator',
    '@tocsin/chdb-server',
    '#workers/pager_role.ts',
  ],
};

const began = performance.now();
if (existsSync(CACHE)) {
  console.log('The modules of npm start are compiled already.');
} else {
  const failed = Object.entries(LOADED).filter(
    ([memory, modules]) => !compile(memory === 'ample' ? 'ample' : 'frugal', modules),
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    failed.length === 0
      ? `Compiled the modules of npm start in ${seconds} s.`
      : 'Could not compile ahead; the first start will be slower.',
  );
}

function compile(memory: keyof typeof MEMORY, modules: readonly string[]): boolean {
  const program = modules.map((name) => `await import(${JSON.stringify(name)});`).join('\n');
  const { status } = spawnSync(
    process.execPath,
    [...MEMORY[memory], ...USE_PACKED, '--input-type=module', '-e', program],
    { cwd: ROOT, env: { ...process.env, NODE_COMPILE_CACHE: CACHE }, stdio: 'ignore' },
  );
  return status === 0;
}

function migrationsOf(store: 'postgres' | 'clickhouse'): string[] {
  return readdirSync(path.join(ROOT, 'infra/migrations', store))
    .filter((name) => /^\d{4}_.*\.ts$/.test(name))
    .map((name) => `#infra/migrations/${store}/${name}`);
}
