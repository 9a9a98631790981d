/** `npm run check`: the static checks and the tests, beside each other. `.ci/run` is this on a clean machine. */
import { availableParallelism } from 'node:os';

import pLimit from 'p-limit';

import { refuseArguments } from '#infra/usage.ts';

import { type Check, close, resultLine, runCheck } from './run_check.ts';

refuseArguments(
  'npm run check: everything that must pass before a change lands. What takes long is npm run check:proofs.',
);

const isStatic = (name: string, script: string): Check => ({ name, script, isTests: false, minutesMax: null });

const STATIC: readonly Check[] = [
  isStatic('lint and types', 'check:lint'),
  isStatic('unused', 'check:unused'),
  isStatic('licences', 'check:licences'),
  isStatic('format', 'check:format'),
  isStatic('lock file', 'check:lock'),
  isStatic('count', 'count'),
];

const TESTS: Check = { name: 'tests', script: 'test', isTests: true, minutesMax: null };

/** Linting takes up to 3.6 GB, the tests with their stores about as much. */
const BYTES_FOR_BOTH = 10 * 1024 ** 3;
const areTogether = process.availableMemory() >= BYTES_FOR_BOTH;
/** They take what the tests leave of the processors while these wait for their stores and browsers. */
const niceness = areTogether ? 10 : 0;

const inTurn = pLimit(availableParallelism());
const runStatic = Promise.all(STATIC.map((check) => inTurn(() => runCheck(check, { show: false, niceness }))));
if (!areTogether) await runStatic;
const tests = await runCheck(TESTS, { show: true });
const outcomes = await runStatic;
for (const [index, outcome] of outcomes.entries()) {
  const { name = '' } = STATIC[index] ?? {};
  process.stdout.write(`${resultLine(name, outcome)}\n${outcome.failed > 0 ? outcome.output : ''}`);
}
process.stdout.write(`${resultLine(TESTS.name, tests)}\n`);
close([...outcomes, tests]);
