import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { duration, megabytes, percent } from './figures.ts';
import { type Bench, printInputs, printTable } from './harness.ts';
import { processorBelow, residentTogether, useBelow } from './paging/processes.ts';

const SETTLE_MS = 15_000;
const IDLE_MS = 30_000;
const ROOT = path.join(import.meta.dirname, '../..');

export const footprint: Bench = {
  name: 'footprint',
  about:
    'start-up, memory and processor of everything on one machine (goals: first start 6 s, restart 3 s, stop 5 s, ' +
    '700 MB, idle below 2 % of one processor)',
  async run() {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-footprint-'));
    // If this runs as root, the database runs as another user, who needs access to the folder.
    chmodSync(dataDir, 0o711);
    try {
      printInputs({ stores: 'embedded', 'idle for': duration(SETTLE_MS), 'processor over': duration(IDLE_MS) });
      const first = await start(dataDir);
      const firstStop = await stop(first.process);
      const second = await start(dataDir);
      await delay(SETTLE_MS);
      await printUse(second.process.pid ?? 0);
      const secondStop = await stop(second.process);
      printTable([
        { start: 'first', 'until healthy': duration(first.tookMs), 'until stopped': duration(firstStop) },
        { start: 'second', 'until healthy': duration(second.tookMs), 'until stopped': duration(secondStop) },
      ]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

/** What `npm start` runs. */
async function start(dataDir: string): Promise<{ process: ChildProcess; tookMs: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--max-semi-space-size=1', 'infra/embedded/start.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      // The same compile cache as `npm start`, which `npm ci` has filled.
      NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/node'),
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Tocsin is running')) resolve();
    });
    child.once('exit', () => reject(new Error(`it did not start:\n${output}`)));
  });
  return { process: child, tookMs: performance.now() - began };
}

async function stop(child: ChildProcess): Promise<number> {
  const began = performance.now();
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
  return performance.now() - began;
}

async function printUse(pid: number): Promise<void> {
  const shares = await processorBelow(pid, IDLE_MS);
  const uses = useBelow(pid);
  printTable([
    ...uses.map(({ name, processes, residentBytes, ownBytes }) => ({
      what: name,
      processes,
      resident: megabytes(residentBytes),
      'its own': megabytes(ownBytes),
      'idle processor': percent(shares.get(name) ?? 0),
    })),
    {
      what: 'together, what is shared counted once',
      processes: uses.reduce((sum, { processes }) => sum + processes, 0),
      resident: megabytes(residentTogether(pid)),
      'its own': megabytes(uses.reduce((sum, { ownBytes }) => sum + ownBytes, 0)),
      'idle processor': percent([...shares.values()].reduce((sum, share) => sum + share, 0)),
    },
  ]);
}
