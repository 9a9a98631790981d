import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { type Config, ConfigError } from '#kernel/config.ts';

/** What `npm start` notes in the data folder while embedded stores run, for commands called beside it. */
export const RUNNING_FILE = 'running.json';

/**
 * The settings with the addresses of the embedded stores that run on this data folder, where no server is configured.
 * Throws a ConfigError when nothing runs there.
 */
export async function runningConfig(config: Config): Promise<Config> {
  if (config.databaseUrl !== undefined && config.clickhouseUrl !== undefined) return config;
  const file = path.join(config.dataDir, RUNNING_FILE);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new ConfigError([
      `nothing runs on the data folder ${config.dataDir}: begin with "npm start", or set DATABASE_URL and CLICKHOUSE_URL`,
    ]);
  }
  const running = JSON.parse(text) as Partial<Config>;
  return { ...config, ...running };
}
