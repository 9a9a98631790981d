import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

import { isConsoleFresh } from './freshness.ts';

/** Lower than that of everything that answers requests or pages people. */
const PRIORITY = 10;

const NO_MEMORY =
  'something killed it, as Linux does when no memory is left: it takes 1 GB. Stop Tocsin, run "npm run prepare", and start it again';

const BUILD = path.join(import.meta.dirname, 'build.ts');

/**
 * Builds the console in the background if its sources have changed, and passes each line of its output to `report`.
 * The signal aborts it. Never rejects: everything else works without a console.
 */
export async function refreshConsole(
  signal: AbortSignal,
  report: (line: string) => void,
  { isFresh = isConsoleFresh, program = BUILD } = {},
): Promise<void> {
  if (isFresh()) return;
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  // An abort is an error event; the outcome is reported when the process has closed.
  child.once('error', () => {});
  if (child.pid !== undefined) os.setPriority(child.pid, PRIORITY);
  const lines = createInterface(child.stdout).on('line', (line) => {
    if (!signal.aborted) report(line);
  });
  const [errorOutput, { code, endedBy }] = await Promise.all([
    text(child.stderr),
    new Promise<{ readonly code: number | null; readonly endedBy: NodeJS.Signals | null }>((resolve) =>
      child.once('close', (exitCode, byEnd) => resolve({ code: exitCode, endedBy: byEnd })),
    ),
    once(lines, 'close'),
  ]);
  if (signal.aborted || code === 0) return;
  report(`The console could not be built: ${endedBy === 'SIGKILL' ? NO_MEMORY : errorOutput.trim()}`);
}
