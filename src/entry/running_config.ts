import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Config } from '#entry/config.ts';
import { ConfigError } from '#kernel/config.ts';

/** Settings with the addresses that every process needs: configured, or given by the supervisor of embedded stores. */
export type RunningConfig = Config & {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly appSecret: string;
};

/** Checks that the stores are known. `npm start` provides embedded ones; a single process needs their addresses. */
export function requireStores(config: Config): RunningConfig {
  const { databaseUrl, clickhouseUrl, appSecret } = config;
  if (databaseUrl === undefined || clickhouseUrl === undefined || appSecret === undefined) {
    const missing = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, APP_SECRET: appSecret };
    const names = Object.entries(missing).flatMap(([name, value]) => (value === undefined ? [name] : []));
    throw new ConfigError([
      `set ${names.join(', ')}, which every single process needs; "npm start" provides them for the embedded stores`,
    ]);
  }
  return { ...config, databaseUrl, clickhouseUrl, appSecret };
}

/** File that `npm start` writes to the data folder while embedded stores run, for commands run beside it. */
export const RUNNING_FILE = 'running.json';

/**
 * Returns the settings with the addresses of the embedded stores that run on this data folder, if no server is
 * configured. Throws a ConfigError if nothing runs there.
 */
export async function runningConfig(config: Config): Promise<Config> {
  if (config.databaseUrl !== undefined && config.clickhouseUrl !== undefined) return config;
  const file = path.join(config.dataDir, RUNNING_FILE);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new ConfigError([
      `Tocsin does not run on the data folder ${config.dataDir}: start it with "npm start", or set DATABASE_URL and CLICKHOUSE_URL`,
    ]);
  }
  const running = JSON.parse(text) as Partial<Config>;
  return { ...config, ...running };
}
