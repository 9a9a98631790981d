import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { USE_PACKED } from '#infra/packages/packed.ts';
import { duration, megabytes, percent } from './figures.ts';
import { type Bench, printInputs, printTable } from './harness.ts';
import { processorBelow, processorUsedBelow, residentTogether, useBelow } from './paging/processes.ts';

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
    const processors = Number(process.env['BENCH_PROCESSORS'] ?? 0);
    const limit = processors > 0 ? limitProcessors(processors) : null;
    try {
      printInputs({
        stores: 'embedded',
        'processor time a second': limit === null ? 'all of the machine' : duration(processors * 1_000),
        'idle for': duration(SETTLE_MS),
        'processor over': duration(IDLE_MS),
      });
      const first = await start(dataDir, limit);
      const firstStop = await stop(first.process);
      const second = await start(dataDir, limit);
      printTable(
        [...new Set([...first.spentMs.keys(), ...second.spentMs.keys()])].map((name) => ({
          'processor until healthy': name,
          'first start': duration(first.spentMs.get(name) ?? 0),
          'second start': duration(second.spentMs.get(name) ?? 0),
        })),
      );
      await delay(SETTLE_MS);
      await printUse(second.process.pid ?? 0);
      const secondStop = await stop(second.process);
      printTable([
        { start: 'first', 'until healthy': duration(first.tookMs), 'until stopped': duration(firstStop) },
        { start: 'second', 'until healthy': duration(second.tookMs), 'until stopped': duration(secondStop) },
      ]);
    } finally {
      await limit?.remove();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};

interface Started {
  readonly process: ChildProcess;
  readonly tookMs: number;
  /** Processor time by kind of process. */
  readonly spentMs: ReadonlyMap<string, number>;
}

/** Starts the same program as `npm start`. */
async function start(dataDir: string, limit: ProcessorLimit | null): Promise<Started> {
  const began = performance.now();
  const [program, ...before] = [...(limit?.command ?? []), process.execPath];
  const child = spawn(program, [...before, '--max-semi-space-size=1', ...USE_PACKED, 'infra/embedded/start.ts'], {
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
  const tookMs = performance.now() - began;
  return { process: child, tookMs, spentMs: processorUsedBelow(child.pid ?? 0) };
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

/** Processes that have a part of this machine's processors between them. */
interface ProcessorLimit {
  /** Command that starts a program within the limit; it stands before the program's command line. */
  readonly command: readonly string[];
  /** Once the programs have ended. */
  remove(): Promise<void>;
}

const PERIOD_US = 100_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/**
 * Limits the processor time a second of everything that is started within it, on however many processors: one of two is
 * a machine half as fast. It uses a control group of Linux, which needs root.
 */
function limitProcessors(processors: number): ProcessorLimit {
  const quota = Math.round(processors * PERIOD_US);
  const isVersion1 = existsSync(path.join(VERSION_1, 'cpu.cfs_quota_us'));
  const group = path.join(isVersion1 ? VERSION_1 : VERSION_2, `tocsin-bench-${process.pid}`);
  mkdirSync(group);
  if (isVersion1) {
    writeFileSync(path.join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(path.join(group, 'cpu.cfs_quota_us'), String(quota));
  } else writeFileSync(path.join(group, 'cpu.max'), `${quota} ${PERIOD_US}`);
  return {
    command: ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', group],
    async remove() {
      // What has ended leaves the group a moment later.
      for (let tries = 0; tries < 50; tries += 1) {
        try {
          rmdirSync(group);
          return;
        } catch {
          await delay(100);
        }
      }
    },
  };
}
