import path from 'node:path';

import { findListenFault } from '#entry/listen_fault.ts';
import type { Config } from '#entry/config.ts';
import { ConfigError } from '#kernel/config.ts';
import { messageOf } from '#kernel/errors.ts';

import { makeDataFolder } from './installation.ts';
import { LockHeldError, takeLock } from './lock.ts';
import { assertReachable, findAccount } from './postgres/account.ts';

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
