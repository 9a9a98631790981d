import { type LockedPackage, type LockedPackages, nameOf } from './lock_file.ts';

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
