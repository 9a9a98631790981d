/** `npm run check`: the static checks beside each other, then the tests. `.ci/run` is this on a clean machine. */
import { availableParallelism } from 'node:os';

import pLimit from 'p-limit';

import { refuseArguments } from '#infra/usage.ts';

import { type Check, close, type Outcome, resultLine, runCheck } from './run_check.ts';

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

const inTurn = pLimit(availableParallelism());

const outcomes: Outcome[] = await Promise.all(
  STATIC.map((check) =>
    inTurn(async () => {
      const outcome = await runCheck(check, { show: false });
      process.stdout.write(`${resultLine(check.name, outcome)}\n${outcome.failed > 0 ? outcome.output : ''}`);
      return outcome;
    }),
  ),
);
const tests = await runCheck(TESTS, { show: true });
process.stdout.write(`${resultLine(TESTS.name, tests)}\n`);
close([...outcomes, tests]);
