import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findFreePort } from '#infra/embedded/free_port.ts';

/** The machine's own Prometheus, on a folder and a port of its own. */
export interface Prometheus {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** The value of this metric of its own, summed over all label sets that match the pattern. */
  counted(name: string, labels?: string): Promise<number>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;

/** The version, and null where it is not installed. */
export function prometheusVersion(): string | null {
  const { status, stdout, stderr } = spawnSync('prometheus', ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/version ([^+\s]+)/.exec(stdout || stderr)?.[1] ?? 'unknown') : null;
}

/** `files` are written beside its configuration, which may name them. */
export async function startPrometheus(
  folder: string,
  config: string,
  { files = {}, flags = [] }: { files?: Readonly<Record<string, string>>; flags?: readonly string[] } = {},
): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ ...files, 'prometheus.yml': config })) {
    writeFileSync(path.join(folder, name), text);
  }
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${path.join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
      ...flags,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const url = `http://${address}`;
  await untilReady(child, `${url}/-/ready`);
  return {
    url,
    pid: child.pid ?? 0,
    version: prometheusVersion() ?? 'unknown',
    async counted(name, labels = '') {
      const text = await (await fetch(`${url}/metrics`)).text();
      const matches = [
        ...text.matchAll(
          new RegExp(`^${name}${labels === '' ? '(?:\\{[^}]*\\})?' : `\\{[^}]*${labels}[^}]*\\}`} (\\S+)$`, 'gm'),
        ),
      ];
      return matches.reduce((sum, [, value]) => sum + Number(value), 0);
    },
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => null);
    if (response?.ok === true) return;
    await delay(50);
  }
  child.kill('SIGKILL');
  throw new Error('Prometheus was not ready in time');
}
