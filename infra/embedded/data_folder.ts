import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Config } from '#entry/config.ts';
import { findListenFault } from '#entry/listen_fault.ts';
import { assertReachable, findAccount } from '#infra/embedded/postgres/account.ts';
import { ConfigError } from '#kernel/config.ts';
import { messageOf } from '#kernel/errors.ts';
import { makeDataFolder } from './installation.ts';
import { findProcess } from './processes.ts';

/** Takes the data folder for this process. Throws a ConfigError where it cannot be used. */
export function lockDataFolder(dataDir: string): { release(): void } {
  try {
    return takeLock(path.join(makeDataFolder(dataDir), 'lock'));
  } catch (error) {
    const folder = path.resolve(dataDir);
    throw new ConfigError([
      error instanceof LockHeldError
        ? `${error.message}: end that one, or set DATA_DIR to another folder`
        : `the data folder ${folder} cannot be written (${messageOf(error)}): make it writable, or set DATA_DIR to another`,
    ]);
  }
}

/**
 * Checks the settings before anything is started. Throws a ConfigError that names everything that is wrong on this
 * machine.
 */
export async function checkSettings(config: Config, environment: NodeJS.ProcessEnv): Promise<void> {
  const { host, port, databaseUrl, clickhouseUrl, redisUrl } = config;
  const isConfigured = [databaseUrl, clickhouseUrl, redisUrl].some((url) => url !== undefined);
  // The clients of the stores are loaded only when a store is configured.
  const faults = isConfigured
    ? await (await import('#entry/preflight.ts')).findPreflightFaults(config, { listens: true, migrates: true })
    : [await findListenFault(host, port)].filter((fault) => fault !== null);
  const phonePort = Number(environment['PHONE_PORT'] || 0);
  const phoneFault =
    config.twilioAccountSid === undefined && (await findListenFault('127.0.0.1', phonePort, 'PHONE_PORT'));
  const sentences = [...faults, ...(phoneFault ? [phoneFault] : [])].map(({ sentence }) => sentence);
  if (config.databaseUrl === undefined) {
    try {
      assertReachable(path.resolve(config.dataDir, 'postgres'), findAccount());
    } catch (error) {
      sentences.push(messageOf(error));
    }
  }
  if (sentences.length > 0) throw new ConfigError(sentences);
}

/** Another process uses this data folder. */
export class LockHeldError extends Error {
  readonly pid: number;

  constructor(file: string, pid: number) {
    super(`another process (pid ${pid}) already runs on this data folder, see ${file}`);
    this.name = 'LockHeldError';
    this.pid = pid;
  }
}

interface Holder {
  readonly pid: number;
  readonly birth: string;
}

/**
 * Takes the lock file for this process, also from a holder that is dead or whose pid now belongs to another program.
 * Throws a LockHeldError while the holder lives. The file appears complete or not at all.
 */
export function takeLock(file: string): { release(): void } {
  const own: Holder = { pid: process.pid, birth: findProcess(process.pid)?.birth ?? '' };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(own)}\n`, { mode: 0o600 });
  try {
    while (!tryLink(draft, file)) {
      const holder = readHolder(file);
      if (isAlive(holder)) throw new LockHeldError(file, holder.pid);
      removeStale(file, holder);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (isSame(readHolder(file), own)) rmSync(file, { force: true });
    },
  };
}

function tryLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(file: string): Holder | null {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof content !== 'object' || content === null || !('pid' in content) || !('birth' in content)) return null;
    const { pid, birth } = content;
    return typeof pid === 'number' && typeof birth === 'string' ? { pid, birth } : null;
  } catch {
    return null;
  }
}

function isAlive(holder: Holder | null): holder is Holder {
  return holder !== null && findProcess(holder.pid)?.birth === holder.birth;
}

const isSame = (a: Holder | null, b: Holder | null) => a?.pid === b?.pid && a?.birth === b?.birth;

/**
 * Removes a stale lock. Two processes may find the same one, and one may have replaced it already: the file that was
 * moved aside is checked again.
 */
function removeStale(file: string, stale: Holder | null): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (!isSame(readHolder(aside), stale)) tryLink(aside, file);
  rmSync(aside, { force: true });
}
