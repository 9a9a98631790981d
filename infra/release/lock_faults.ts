import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Binaries of the embedded ClickHouse for other platforms, which the registry did not offer when the lock file was written:
 * npm leaves their hashes out. `npm run check:lock -- --complete` adds them where a registry has them. Then remove them from
 * this list.
 */
const WITHOUT_INTEGRITY: readonly string[] = [
  '@chdb/lib-darwin-arm64',
  '@chdb/lib-darwin-x64',
  '@chdb/lib-linux-arm64-gnu',
];

/** The packages of the lock file that are named without their hash, and may be. */
export function listExempt(packages: LockedPackages): readonly string[] {
  return Object.entries(packages)
    .filter(isExempt)
    .map(([place]) => nameOf(place));
}

/** Entries of the lock file that would let npm install something that was not reviewed. */
export function lockFaults(packages: LockedPackages): string[] {
  const entries = Object.entries(packages);
  const excused = listExempt(packages);
  return [
    ...entries
      .filter((entry) => entry[1].integrity === undefined && !isExempt(entry))
      .map(([place]) => `${place} has no integrity: install it anew`),
    ...WITHOUT_INTEGRITY.filter((name) => !excused.includes(name)).map(
      (name) => `${name} has its integrity, or is gone: take it off the list in lock_faults.ts`,
    ),
    ...entries
      .filter(([, { integrity }]) => integrity !== undefined && !/^sha(384|512)-/.test(integrity))
      .map(([place]) => `${place} has a weak integrity: install it anew`),
    ...entries
      .filter(([, { resolved }]) => resolved !== undefined)
      .map(([place]) => `${place} names a registry: install it with --omit-lockfile-registry-resolved`),
  ];
}

/** Never installed where the product is built: 64-bit Linux on Intel. */
function isExempt([place, { integrity, optional, os, cpu }]: readonly [string, LockedPackage]): boolean {
  const isForOthers = optional === true && (os !== undefined || cpu !== undefined);
  return integrity === undefined && isForOthers && WITHOUT_INTEGRITY.includes(nameOf(place));
}

/** An entry of `package-lock.json`. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  /** True for a package of this repository. */
  readonly link?: boolean;
}

/** Packages by their place below `node_modules`, without the product itself and its own packages. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export function readLockFile(): LockedPackages {
  const file = path.resolve(import.meta.dirname, '../../package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  return Object.fromEntries(
    Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && link !== true),
  );
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Prints the faults, one a line, and sets exit status 1; or prints that there are none. */
export function conclude(faults: readonly string[], allIsWell: string): void {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length === 0) process.stdout.write(`${allIsWell}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
