import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { CONSOLE_FOLDER } from '#entry/http/console_build.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The console takes constants of decisions and kernel; the last is what builds it. */
const SOURCES = ['src/console', 'src/modules', 'src/kernel', 'infra/console'].map((folder) => path.join(ROOT, folder));

/** The file beside the build that says what it was built from. */
export const FINGERPRINT_FILE = 'built-from.txt';

/** A hash of every source file of the console and of the versions of its packages. */
export function fingerprintOfSources(): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }),
  )
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of [path.join(ROOT, 'package-lock.json'), ...files.sort()]) {
    hash.update(path.relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/** Whether the current build was made from the current sources. */
export function isConsoleFresh(): boolean {
  try {
    return readFileSync(path.join(CONSOLE_FOLDER, FINGERPRINT_FILE), 'utf8') === fingerprintOfSources();
  } catch {
    return false;
  }
}
