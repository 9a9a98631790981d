import { readFileSync } from 'node:fs';
import path from 'node:path';

/** What `package-lock.json` says of one package. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/** By their place below `node_modules`, without the product itself. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export function readLockFile(): LockedPackages {
  const file = path.resolve(import.meta.dirname, '../../package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  const { '': _product, ...others } = packages;
  return others;
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Says what is wrong, one a line, and ends with status 1; or says that all is well. */
export function conclude(faults: readonly string[], allIsWell: string): void {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length === 0) process.stdout.write(`${allIsWell}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
