/** `npm run check:mutants`: changes the product in many places, one at a time, and expects the tests of the gate to fail. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import os, { availableParallelism } from 'node:os';
import path from 'node:path';

import pLimit from 'p-limit';

import { type Mutant, MUTANT_GROUPS, type MutantGroup } from './mutants.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** Percentage of all mutants that the tests have to notice. */
const KILLED_MIN = 95;
const MINUTES_MAX = 10;

const USAGE = `npm run check:mutants [-- WORD …]: tries the mutants of all subjects, or of those whose name has one of the words. Ends with
status 1 when less than ${KILLED_MIN} % are noticed by the tests of the gate.`;

const words = process.argv.slice(2);
if (words.some((word) => word.startsWith('-'))) {
  console.log(USAGE);
  process.exit(words.includes('--help') || words.includes('-h') ? 0 : 2);
}
const groups = MUTANT_GROUPS.filter(
  ({ subject }) => words.length === 0 || words.some((word) => subject.includes(word)),
);

/** Mutant that changes nothing: other mutants count as noticed only where the tests pass with it. */
const UNCHANGED: Mutant = { file: 'package.json', find: '"name": "tocsin"', replace: '"name": "tocsin"' };

const inTurn = pLimit(availableParallelism());
const failing: string[] = [];
await Promise.all(
  groups.map((group) =>
    inTurn(async () => {
      const output = await tryMutant(UNCHANGED, group);
      if (output === null) return;
      failing.push(group.subject);
      console.error(output);
    }),
  ),
);
if (failing.length > 0) {
  console.error(`check:mutants: these tests fail without any mutant; mend them first: ${failing.join('; ')}`);
  process.exit(1);
}
const survivors: string[] = [];
let tried = 0;
await Promise.all(
  groups.flatMap((group) =>
    group.mutants.map((mutant) =>
      inTurn(async () => {
        const began = performance.now();
        const isKilled = (await tryMutant(mutant, group)) !== null;
        tried += 1;
        const seconds = ((performance.now() - began) / 1_000).toFixed(0);
        const shown = `${mutant.file}: ${mutant.find.split('\n')[0]?.trim().slice(0, 80)}`;
        if (!isKilled) survivors.push(shown);
        console.log(`${isKilled ? 'killed  ' : 'SURVIVED'} ${seconds.padStart(4)} s  ${shown}`);
      }),
    ),
  ),
);
const killed = tried - survivors.length;
console.log(`\n${killed} of ${tried} mutants killed (${((100 * killed) / tried).toFixed(1)} %)`);
process.exitCode = (100 * killed) / tried >= KILLED_MIN ? 0 : 1;

/** Returns the output of tests of the group that fail on a copy of the repository with this change; null if all pass. */
async function tryMutant({ file, find, replace }: Mutant, { tests }: MutantGroup): Promise<string | null> {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  const places = source.split(find).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places with this text instead of one: ${find}`);
  const changed = source.replace(find, () => replace);
  // A file that cannot be loaded fails any test.
  if (file.endsWith('.ts')) stripTypeScriptTypes(changed);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-mutant-'));
  try {
    copyRepository(folder);
    writeFileSync(path.join(folder, file), changed);
    // Most mutants are noticed by the tests of their file, which take a fraction of the group's time.
    const nearest = `test/${file.slice('src/'.length).replace(/\.ts$/, '.test.ts')}`;
    const isCovered = existsSync(path.join(folder, nearest)) && tests.some((covered) => nearest.startsWith(covered));
    return (isCovered ? await findFailure(folder, [nearest]) : null) ?? (await findFailure(folder, tests));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyRepository(folder: string): void {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of files.split('\0').filter((name) => name !== '')) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    cpSync(path.join(ROOT, file), path.join(folder, file));
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
}

/** Runs tests until the first one fails, and returns their output then. A run that does not end counts as one that failed. */
async function findFailure(folder: string, tests: readonly string[]): Promise<string | null> {
  const args = ['vitest', 'run', '--config', 'test/vitest.config.ts', '--bail=1', '--reporter=dot', ...tests];
  // Several run beside each other: a test that takes long then has noticed nothing.
  const env = { ...process.env, TEST_SECONDS_MAX: '60' };
  const child = spawn('npx', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const limit = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, MINUTES_MAX * 60_000);
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  clearTimeout(limit);
  return status === 0 ? null : output;
}
