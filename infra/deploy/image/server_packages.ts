import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Files that the processes of an image load, as paths below the root. The console is built, so its sources are left
 * out.
 */
export const SERVER_SOURCES = ['src', 'workers', 'infra/migrations'];
export const isServerSource = (file: string): boolean => !/^src\/console(?:\/|$)/.test(file.split(path.sep).join('/'));

/** The name of a package in an import, or where one is looked up. */
const IMPORT = /\b(?:from|import|resolve|require)\s*\(?\s*'((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^']*)?'/g;

/** The dependencies that the server names itself. */
export function importedPackages(root: string): string[] {
  const { dependencies } = readManifest(root);
  const files = SERVER_SOURCES.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  ).filter((file) => file.endsWith('.ts') && isServerSource(file));
  const imported = new Set(
    files.flatMap((file) =>
      [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)].map(([, name = '']) => name),
    ),
  );
  return Object.keys(dependencies).filter((name) => imported.has(name));
}

/** Folders of these packages and of everything they need in turn, below `root`; optional packages are left out. */
export function foldersOf(root: string, names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (from: string, name: string, isRequired: boolean): void => {
    const folder = findPackage(root, from, name);
    if (folder === null) {
      if (isRequired) throw new Error(`${name}, which ${from === '' ? 'the server' : from} needs, is not installed`);
      return;
    }
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = readManifest(
      path.join(root, folder),
    );
    for (const needed of Object.keys(dependencies)) {
      if (!(needed in optionalDependencies)) add(folder, needed, true);
    }
    for (const peer of Object.keys(peerDependencies)) {
      if (peerDependenciesMeta[peer]?.optional !== true) add(folder, peer, false);
    }
  };
  for (const name of names) add('', name, true);
  return [...found].toSorted();
}

/** Finds a package as Node does: beside the package that needs it, then further out. */
function findPackage(root: string, from: string, name: string): string | null {
  const nested = path.join(from, 'node_modules', name);
  if (existsSync(path.join(root, nested, 'package.json'))) return nested;
  if (from === '') return null;
  const outer = from.lastIndexOf(`${path.sep}node_modules${path.sep}`);
  return findPackage(root, outer === -1 ? '' : from.slice(0, outer), name);
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function readManifest(folder: string): Manifest {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Partial<Manifest>;
  return { dependencies: {}, optionalDependencies: {}, peerDependencies: {}, peerDependenciesMeta: {}, ...manifest };
}
