interface Version {
  readonly product: string | null;
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];
}

const VERSION =
  /^(?:(.{1,150})@)?v?(\d{1,9}(?:\.\d{1,9}){1,3})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/s;

/**
 * Whether `a` is known to be the older release: both are versions (`1.4.0`, `shop@1.4.0-rc.1+build`), of the same
 * product, and semver orders them so. Commits, dates of other shapes and unknown releases are never older.
 */
export function isOlderRelease(a: string | null, b: string | null): boolean {
  const [older, newer] = [parseVersion(a), parseVersion(b)];
  if (older === null || newer === null || older.product !== newer.product) return false;
  return compareVersions(older, newer) < 0;
}

function parseVersion(release: string | null): Version | null {
  const match = VERSION.exec(release?.trim() ?? '');
  if (match === null) return null;
  const [, product, numbers = '', prerelease] = match;
  return {
    product: product ?? null,
    numbers: numbers.split('.').map(Number),
    prerelease: prerelease === undefined ? [] : prerelease.split('.'),
  };
}

function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 4; i += 1) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

/** Semver 11.3 and 11.4: a prerelease comes before its release, numbers before words, the shorter before the longer. */
function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right === undefined) return 1;
    const difference = compareIdentifiers(left, right);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return Number(a) - Number(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
