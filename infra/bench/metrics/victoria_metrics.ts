import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import { findFreePort } from '#infra/embedded/free_port.ts';

/** The machine's own VictoriaMetrics, on a folder and a port of its own. */
export interface VictoriaMetrics {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** Resolves once so many points are in parts that queries read; newer ones wait in memory for up to a second. */
  untilQueryable(points: number): Promise<void>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const LOOK_MS = 20;

/** The version, and null where it is not installed. */
export function victoriaMetricsVersion(): string | null {
  const { status, stdout, stderr } = spawnSync('victoria-metrics', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/(\d+\.\d+\.\d+)/.exec(stdout + stderr)?.[1] ?? 'unknown') : null;
}

export async function startVictoriaMetrics(folder: string): Promise<VictoriaMetrics> {
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const child = spawn(
    'victoria-metrics',
    [`-storageDataPath=${folder}`, `-httpListenAddr=${address}`, '-retentionPeriod=5y', '-loggerLevel=ERROR'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const url = `http://${address}`;
  const deadline = performance.now() + READY_WITHIN_MS;
  while ((await fetch(`${url}/health`).catch(() => null))?.ok !== true) {
    if (child.exitCode !== null) throw new Error(`VictoriaMetrics ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error('VictoriaMetrics was not ready in time');
    await delay(50);
  }
  return {
    url,
    pid: child.pid ?? 0,
    version: victoriaMetricsVersion() ?? 'unknown',
    async untilQueryable(points) {
      for (;;) {
        const text = await (await fetch(`${url}/metrics`)).text();
        const matches = [...text.matchAll(/^vm_rows\{type="storage\/\w+"\} (\d+)$/gm)];
        if (matches.reduce((sum, [, rows]) => sum + Number(rows), 0) >= points) return;
        await delay(LOOK_MS);
      }
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
