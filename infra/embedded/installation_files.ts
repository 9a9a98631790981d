import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { FirstRun } from '#entry/first_run.ts';
import { RUNNING_FILE } from '#entry/config.ts';

/** Facts that other commands need to find a running installation; see `entry/config.ts`. */
export interface RunningInstallation {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly appSecret: string;
  readonly baseUrl: string;
  /** Null when a real Twilio account is configured. */
  readonly phoneUrl: string | null;
}

export function writeRunningFile(dataDir: string, note: Partial<RunningInstallation>): void {
  writeFileSync(path.join(dataDir, RUNNING_FILE), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

export function removeRunningFile(dataDir: string): void {
  rmSync(path.join(dataDir, RUNNING_FILE), { force: true });
}

/** The file that says how to sign in. */
export function firstRunFile(dataDir: string): string {
  return path.join(dataDir, 'first-run.json');
}

export function readFirstRun(dataDir: string): FirstRun | null {
  const file = firstRunFile(dataDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FirstRun) : null;
}
