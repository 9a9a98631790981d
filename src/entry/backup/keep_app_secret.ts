import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Config } from '#entry/config.ts';

/** File where `npm start` looks for the secret of an installation with embedded stores when APP_SECRET is not set. */
const SECRET_FILE = 'app-secret';

/** Stores the secret of a backup where the next start finds it, unless one is set. */
export function keepAppSecret({ dataDir, appSecret: configured }: Config, appSecret: string | null): void {
  const file = path.join(dataDir, SECRET_FILE);
  if (appSecret === null || configured !== undefined || existsSync(file)) return;
  mkdirSync(dataDir, { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${appSecret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}
