import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Flags of Node for a program that reads packages from what was packed of them. */
export const USE_PACKED = ['--import', pathToFileURL(path.join(import.meta.dirname, 'use_packed.ts')).href];
/** Parameter of the preloaded module with which programs of our own are read packed, too. */
export const WITH_PROGRAMS = 'programs';

/** Returns the flags of Node for one of our own programs: it is read packed while its sources are those it was packed from. */
export function usePackedPrograms(): readonly string[] {
  const [flag, module] = USE_PACKED;
  return arePackedProgramsFresh() ? [`${flag}`, `${module}?${WITH_PROGRAMS}`] : USE_PACKED;
}

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

/** What was packed: files by what modules import, and the version of each package that went in. */
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

/**
 * Programs of our own that are packed with all they import of ours: of a thousand small modules, Node keeps a fifth of the
 * memory of a process and takes a quarter of the processor time of its start.
 */
export const PROGRAMS = ['src/entry/api.ts', 'workers/main.ts'] as const;
export const PROGRAMS_FOLDER = path.join(ROOT, 'node_modules/.cache/programs');
const FILES = 'files.json';
const SOURCES = 'sources.json';

/** Where and from which files the programs were packed, each with its size and the time of its last change. */
interface Sources {
  readonly root: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Returns the texts of the files that describe what was packed: programs by path, and the files they were packed from. */
export function describePrograms(files: Readonly<Record<string, string>>, sources: readonly string[]) {
  const states = sources.map((file) => [path.relative(ROOT, file), stateOf(file)]);
  return {
    [FILES]: JSON.stringify(files),
    [SOURCES]: JSON.stringify({ root: ROOT, files: Object.fromEntries(states) } satisfies Sources),
  };
}

/** Whether every file that the programs were packed from is as it was then. A copy of the folder elsewhere is not. */
export function arePackedProgramsFresh(folder = PROGRAMS_FOLDER): boolean {
  try {
    const { root, files } = JSON.parse(readFileSync(path.join(folder, SOURCES), 'utf8')) as Sources;
    return root === ROOT && Object.entries(files).every(([file, state]) => stateOf(path.join(ROOT, file)) === state);
  } catch {
    return false;
  }
}

function stateOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${size} ${mtimeMs}`;
}

/** Returns the packed programs by the URL of their source. Call it only where `arePackedProgramsFresh`. */
export function readPrograms(folder = PROGRAMS_FOLDER): ReadonlyMap<string, string> {
  const files = JSON.parse(readFileSync(path.join(folder, FILES), 'utf8')) as Record<string, string>;
  return new Map(
    Object.entries(files).map(([program, file]) => [
      pathToFileURL(path.join(ROOT, program)).href,
      pathToFileURL(path.join(folder, file)).href,
    ]),
  );
}
