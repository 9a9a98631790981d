import { readFileSync } from 'node:fs';
import path from 'node:path';

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
