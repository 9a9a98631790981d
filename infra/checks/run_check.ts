import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A command of `package.json` whose exit status says whether it passed. */
export interface Check {
  readonly name: string;
  /** Script of `package.json`. */
  readonly script: string;
  /** Whether the script is vitest, whose report says how many tests passed. Anything else counts as one. */
  readonly isTests: boolean;
  /** Minutes after which it is ended, and has failed; null for a check that ends by itself. */
  readonly minutesMax: number | null;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  readonly isTimedOut: boolean;
  /** Output of the check; empty if it was shown while the check ran. */
  readonly output: string;
}

/** Runs a check to its end, with all processes that it started. `show` prints its output while it runs. */
export async function runCheck(check: Check, { show }: { readonly show: boolean }): Promise<Outcome> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-check-'));
  const report = path.join(folder, 'report.json');
  const reporters = ['--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const began = performance.now();
  const child = spawn('npm', ['run', '--silent', check.script, ...(check.isTests ? reporters : [])], {
    stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let isTimedOut = false;
  const limit =
    check.minutesMax === null
      ? undefined
      : setTimeout(() => {
          isTimedOut = true;
          endGroup(child.pid);
        }, check.minutesMax * 60_000);
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  clearTimeout(limit);
  const counts = check.isTests ? countTests(report) : { passed: 0, failed: 0, skipped: 0 };
  rmSync(folder, { recursive: true, force: true });
  const seconds = (performance.now() - began) / 1_000;
  if (status === 0) return { ...counts, passed: counts.passed + (check.isTests ? 0 : 1), seconds, isTimedOut, output };
  return { ...counts, failed: Math.max(1, counts.failed), seconds, isTimedOut, output };
}

/** Ends a process and all that it started; each check leads a process group of its own. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** Counts the tests in vitest's JSON report; a file that could not be loaded counts as one that failed. */
export function countTests(file: string): { passed: number; failed: number; skipped: number } {
  let report: Report;
  try {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- vitest wrote it
    report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

export function resultLine(name: string, { passed, failed, skipped, seconds, isTimedOut }: Outcome): string {
  const counts = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  const verdict = failed > 0 ? 'FAILED' : 'ok    ';
  return `${verdict} ${name.padEnd(14)} ${counts}, ${seconds.toFixed(0)} s${isTimedOut ? ' (ended at its time limit)' : ''}`;
}

/** Prints the sum of all outcomes as the last line, and sets the exit status. */
export function close(outcomes: readonly Outcome[]): void {
  const sum = (key: 'passed' | 'failed' | 'skipped'): number =>
    outcomes.reduce((total, outcome) => total + outcome[key], 0);
  process.stdout.write(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`);
  process.exitCode = sum('failed') === 0 ? 0 : 1;
}
