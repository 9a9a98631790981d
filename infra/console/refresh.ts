import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { isConsoleFresh } from './freshness.ts';

/** Below everything that answers requests or pages somebody. */
const PRIORITY = 10;

const BUILD = path.join(import.meta.dirname, 'build.ts');

/**
 * Builds the console anew, beside everything else, if it is not of these sources; `report` is told what came of it. The
 * signal ends it. Never rejects: the rest works without a console.
 */
export async function refreshConsole(
  signal: AbortSignal,
  report: (outcome: string) => void,
  { isFresh = isConsoleFresh, program = BUILD } = {},
): Promise<void> {
  if (isFresh()) return;
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  // Told of an end by the signal; what comes of it is told when it has closed.
  child.once('error', () => {});
  if (child.pid !== undefined) os.setPriority(child.pid, PRIORITY);
  const [said, complained, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  if (signal.aborted) return;
  report(code === 0 ? said.trim() : `The console could not be built: ${complained.trim()}`);
}
