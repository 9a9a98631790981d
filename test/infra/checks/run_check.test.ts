import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { MUTANT_GROUPS } from '#infra/checks/mutants/mutants.ts';
import { countTests, resultLine } from '#infra/checks/run_check.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function count(report: object | string): ReturnType<typeof countTests> {
  const file = path.join(folder, 'report.json');
  writeFileSync(file, typeof report === 'string' ? report : JSON.stringify(report));
  return countTests(file);
}

const file = (status: string, tests: number) => ({
  status,
  assertionResults: Array.from({ length: tests }, () => ({})),
});

test('tests are counted, and a file that could not be loaded counts as one that failed', () => {
  const report = {
    numPassedTests: 5,
    numFailedTests: 1,
    numPendingTests: 2,
    numTodoTests: 1,
    testResults: [file('passed', 5), file('failed', 4), file('failed', 0)],
  };
  expect(count(report)).toEqual({ passed: 5, failed: 2, skipped: 3 });
});

test('a report that is missing or cut off counts as a failure', () => {
  expect(count('{"numPassedTests": 5')).toEqual({ passed: 0, failed: 1, skipped: 0 });
  expect(countTests(path.join(folder, 'missing.json'))).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test('the line of a result says what failed, was skipped or ended at its time limit', () => {
  const outcome = { passed: 3, failed: 0, skipped: 0, seconds: 12.4, isTimedOut: false, output: '' };
  expect(resultLine('faults', outcome)).toBe('ok     faults         3 passed, 0 failed, 12 s');
  expect(resultLine('faults', { ...outcome, failed: 1, skipped: 2, isTimedOut: true })).toBe(
    'FAILED faults         3 passed, 1 failed, 2 skipped, 12 s (ended at its time limit)',
  );
});

test('what a mutant changes stands once in its file, and the tests that are to notice it exist', () => {
  const lost = MUTANT_GROUPS.flatMap(({ mutants, tests }) => [
    ...mutants
      .filter(({ file, find }) => !existsSync(file) || readFileSync(file, 'utf8').split(find).length !== 2)
      .map((mutant) => `${mutant.file}: ${mutant.find}`),
    ...tests.filter((test) => !existsSync(test)),
  ]);
  expect(lost).toEqual([]);
});
