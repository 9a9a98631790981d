import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Arguments of Node with which a program uses them. */
export const USE_PACKED = ['--import', pathToFileURL(path.join(import.meta.dirname, 'use_packed.ts')).href];

/** Goes with the packages that are installed. */
export const PACKED_FOLDER = path.join(ROOT, 'node_modules/.cache/packed');
const MANIFEST = 'manifest.json';

/** All that anything imports of each. A part that is left out would bring a second copy of what it shares with the others. */
export const PACKED: Readonly<Record<string, readonly string[]>> = {
  typebox: ['typebox', 'typebox/compile', 'typebox/value'],
  kysely: ['kysely', 'kysely/helpers/postgres'],
  bullmq: ['bullmq'],
  ioredis: ['ioredis'],
  pg: ['pg'],
  '@mikro-orm/core': [
    '@mikro-orm/core',
    '@mikro-orm/core/dataloader',
    '@mikro-orm/core/file-discovery',
    '@mikro-orm/core/fs-utils',
    '@mikro-orm/core/migrations',
    '@mikro-orm/core/schema',
  ],
  '@mikro-orm/sql': ['@mikro-orm/sql'],
  '@mikro-orm/postgresql': ['@mikro-orm/postgresql'],
  yaml: ['yaml'],
  '@clickhouse/client': ['@clickhouse/client'],
  'prom-client': ['prom-client'],
  fastify: ['fastify'],
};

/** List of what was packed: files by what modules import, and the version of each package that went in. */
interface Manifest {
  readonly versions: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/** The manifest of what is packed of the packages as they are installed now, as JSON. */
export function writeManifest(files: Manifest['files']): { readonly name: string; readonly text: string } {
  const versions = Object.fromEntries(Object.keys(PACKED).map((name) => [name, installedVersion(name)]));
  return { name: MANIFEST, text: JSON.stringify({ versions, files } satisfies Manifest) };
}

/** Files by what modules import; null when nothing is packed, or a package is installed in another version by now. */
export function readPacked(folder = PACKED_FOLDER): ReadonlyMap<string, string> | null {
  try {
    const { versions, files } = JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8')) as Manifest;
    const isFresh = Object.entries(PACKED).every(
      ([name, parts]) => versions[name] === installedVersion(name) && parts.every((part) => part in files),
    );
    return isFresh ? new Map(Object.entries(files).map(([name, file]) => [name, path.join(folder, file)])) : null;
  } catch {
    return null;
  }
}

function installedVersion(name: string): string {
  const description = readFileSync(path.join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(description) as { version: string }).version;
}
