import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** The minimum for `APP_SECRET`. */
const CHARACTERS_MIN = 32;

/**
 * The secret of this installation, generated on first use. Without it stored ingestion keys cannot be read, so a damaged
 * file is an error and is never replaced.
 */
export function readOrCreateAppSecret(file: string): string {
  const stored = read(file);
  if (stored === null) return create(file);
  if (stored.length < CHARACTERS_MIN)
    throw new Error(`${file} is damaged: put it back from a backup, or set APP_SECRET`);
  return stored;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function create(file: string): string {
  const secret = randomBytes(32).toString('hex');
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
  return secret;
}

/** A secret derived from this one, as hexadecimal digits; the same at every start. */
export function deriveSecret(appSecret: string, purpose: string): string {
  return createHmac('sha256', appSecret).update(purpose).digest('hex');
}
