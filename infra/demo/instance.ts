import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { firstRunFile, type RunningInstallation } from '#infra/embedded/installation_files.ts';
import { RUNNING_FILE } from '#entry/config.ts';

/** A running Tocsin, as a client sees it. */
export interface Instance {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly userId: string;
  readonly phoneUrl: string;
  /** Stops it if it was started here. */
  stop(): Promise<void>;
}

/** Settings of a new one. */
type Variables = Readonly<Record<string, string>>;

/** The instance that runs on the data folder, or a new one on a temporary folder. */
export async function findOrStartInstance(dataDir: string, variables: Variables = {}): Promise<Instance> {
  return (await findInstance(dataDir, async () => {})) ?? (await startInstance(variables));
}

async function findInstance(dataDir: string, stop: () => Promise<void>): Promise<Instance | null> {
  const file = path.join(dataDir, RUNNING_FILE);
  if (!existsSync(file) || !existsSync(firstRunFile(dataDir))) return null;
  const { baseUrl, phoneUrl } = JSON.parse(readFileSync(file, 'utf8')) as RunningInstallation;
  const { apiKey, userId } = JSON.parse(readFileSync(firstRunFile(dataDir), 'utf8')) as Record<
    'apiKey' | 'userId',
    string
  >;
  if (!(await isRunning(baseUrl))) return null;
  if (phoneUrl === null)
    throw new Error('a real Twilio account is configured: the demo pages the phone simulator only');
  return { baseUrl, apiKey, userId, phoneUrl, stop };
}

/** Time that a new installation may take on a busy machine until all of it works. */
const HEALTHY_WITHIN_MS = 60_000;
const ASK_AGAIN_MS = 500;

/** False when nothing answers there. One that answers is the one that is meant: waits until all of it works. */
export async function isRunning(baseUrl: string, withinMs = HEALTHY_WITHIN_MS): Promise<boolean> {
  const began = performance.now();
  for (;;) {
    const answer = await fetch(`${baseUrl}/healthz`).catch(() => null);
    if (answer === null) return false;
    if (answer.ok) return true;
    if (performance.now() - began > withinMs) {
      throw new Error(`Tocsin runs at ${baseUrl}, and not all of it works: ${baseUrl}/healthz says what does not`);
    }
    await setTimeout(ASK_AGAIN_MS);
  }
}

async function startInstance(variables: Variables): Promise<Instance> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-demo-'));
  // As root, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(dataDir, 0o711);
  const server = spawn(process.execPath, [path.join(import.meta.dirname, '../embedded/start.ts')], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    const gone = once(server, 'exit');
    server.kill('SIGTERM');
    await gone;
    rmSync(dataDir, { recursive: true, force: true });
  };
  let output = '';
  await new Promise<void>((resolve) => {
    server.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Tocsin is running')) resolve();
    });
    server.once('exit', () => resolve());
  });
  const instance = await findInstance(dataDir, stop);
  if (instance === null) {
    await stop();
    throw new Error(`Tocsin did not start:\n${output}`);
  }
  return instance;
}
