/**
 * `npm run check`: the static checks, one after the other, beside what the tests need and the tests. `.ci/run` is this on
 * a clean machine.
 */
import { refuseArguments } from '#infra/usage.ts';

import { type Check, close, type Outcome, resultLine, runCheck } from './run_check.ts';

refuseArguments(
  'npm run check: everything that must pass before a change lands. What takes long is npm run check:proofs.',
);

const isNoTest = (name: string, script: string): Check => ({ name, script, isTests: false, minutesMax: null });

/** Static checks. They run beside the tests, which get the rest of the processors. */
const STATIC: readonly Check[] = [
  isNoTest('unused', 'check:unused'),
  isNoTest('licences', 'check:licences'),
  isNoTest('format', 'check:format'),
  isNoTest('lock file', 'check:lock'),
  isNoTest('count', 'count'),
  isNoTest('lint and types', 'check:lint'),
];

/** The last part of `npm ci`, which the tests need. Done before, it is over at once. */
const PREPARATION = isNoTest('preparation', 'prepare');
const TESTS: Check = { name: 'tests', script: 'test', isTests: true, minutesMax: null };

/** Memory in which the checker of types collects no garbage, which takes a fifth of its processor time; four gigabytes do too. */
const LINT_BYTES = 6 * 1024 ** 3;
if (process.availableMemory() > 1.5 * LINT_BYTES) process.env.GOGC ??= 'off';

/** Failures beside the tests, shown behind them, where somebody looks. */
const failures: string[] = [];
const outcomes = await Promise.all([runStatic(), runTests()]);
process.stdout.write(failures.join(''));
close(outcomes.flat());

async function runStatic(): Promise<Outcome[]> {
  const results: Outcome[] = [];
  for (const check of STATIC) results.push(await runUnseen(check));
  return results;
}

async function runTests(): Promise<Outcome[]> {
  const preparation = await runUnseen(PREPARATION);
  if (preparation.failed > 0) return [preparation];
  const tests = await runCheck(TESTS, { show: true });
  process.stdout.write(`${resultLine(TESTS.name, tests)}\n`);
  return [preparation, tests];
}

async function runUnseen(check: Check): Promise<Outcome> {
  const outcome = await runCheck(check, { show: false });
  const line = `${resultLine(check.name, outcome)}\n`;
  process.stdout.write(line);
  if (outcome.failed > 0) failures.push(`${line}${outcome.output}`);
  return outcome;
}
