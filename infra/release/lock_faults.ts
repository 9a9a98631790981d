import { type LockedPackage, type LockedPackages, nameOf } from './lock_file.ts';

/**
 * Binaries for other platforms, which the registry did not offer when the lock file was written: npm leaves their hashes
 * out. `npm run check:lock -- --complete` adds them where a registry has them. Then remove the family from this list.
 */
const INCOMPLETE_FAMILIES = [
  '@chdb/lib-',
  '@msgpackr-extract/msgpackr-extract-',
  '@oxc-parser/binding-',
  '@oxfmt/binding-',
  '@oxlint-tsgolint/',
  '@oxlint/binding-',
] as const;

/** Entries of the lock file that would let npm install something that was not reviewed. */
export function lockFaults(packages: LockedPackages): string[] {
  const entries = Object.entries(packages);
  const incomplete = entries.filter(([, { integrity }]) => integrity === undefined);
  const isExcused = ([place, locked]: readonly [string, LockedPackage]): boolean =>
    isForOtherPlatforms(locked) && INCOMPLETE_FAMILIES.some((family) => nameOf(place).startsWith(family));
  const complete = INCOMPLETE_FAMILIES.filter((family) =>
    incomplete.every(([place]) => !nameOf(place).startsWith(family)),
  );
  return [
    ...incomplete.filter((entry) => !isExcused(entry)).map(([place]) => `${place} has no integrity: install it anew`),
    ...complete.map((family) => `every ${family}… has its integrity: take it off the list in lock_faults.ts`),
    ...entries
      .filter(([, { integrity }]) => integrity !== undefined && !/^sha(384|512)-/.test(integrity))
      .map(([place]) => `${place} has a weak integrity: install it anew`),
    ...entries
      .filter(([, { resolved }]) => resolved !== undefined)
      .map(([place]) => `${place} names a registry: install it with --omit-lockfile-registry-resolved`),
  ];
}

/** Never installed where the product is built: 64-bit Linux with glibc on Intel. */
function isForOtherPlatforms({ optional, os, cpu }: LockedPackage & { readonly libc?: readonly string[] }): boolean {
  return optional === true && (os !== undefined || cpu !== undefined);
}
