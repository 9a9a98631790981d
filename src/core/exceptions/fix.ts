import { compareReleases, releaseLineOf } from '#core/exceptions/release.ts';

export const FIX_KINDS = ['next_release', 'release'] as const;

/** Where people say that an error is fixed. */
export interface Fix {
  /** In the release after the one that is named, or in that one. */
  readonly kind: (typeof FIX_KINDS)[number];
  readonly release: string;
  /** The releases that were known when they said so. */
  readonly knownReleases: readonly string[];
}

/** A release of a service, with when it became known. */
export interface KnownRelease {
  readonly release: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Of releases that cannot be compared no more are remembered. */
const KNOWN_MAX = 200;

/**
 * Whether an event of this release comes from code without the fix: it does not bring a resolved group back. Of releases
 * that cannot be compared, as commits, those that were known before are older than the next one. An event without a
 * release may come from anywhere.
 */
export function isBeforeFix(fix: Fix, release: string | null): boolean {
  if (release === null) return false;
  const order = fix.kind === 'release' ? compareReleases(release, fix.release) : null;
  if (order !== null) return order < 0;
  return fix.knownReleases.some((known) => isUpTo(release, known));
}

function isUpTo(release: string, known: string): boolean {
  const order = compareReleases(release, known);
  return order !== null && order <= 0;
}

/** What a fix has to remember of the releases known now: those that no other one is known to be newer than. */
export function releasesToRemember(releases: readonly KnownRelease[]): readonly string[] {
  const newest = new Map<string, string>();
  for (const { release } of newestFirst(releases)) {
    const line = releaseLineOf(release) ?? `only ${release}`;
    const known = newest.get(line);
    if (known === undefined || (compareReleases(known, release) ?? 0) < 0) newest.set(line, release);
  }
  return [...newest.values()].slice(0, KNOWN_MAX);
}

/** The release that the next one follows: the last to become known, or one that is known to be newer. Null for none. */
export function newestRelease(releases: readonly KnownRelease[]): string | null {
  const [last] = newestFirst(releases);
  if (last === undefined) return null;
  return releases.reduce(
    (newest, { release }) => ((compareReleases(newest, release) ?? 0) < 0 ? release : newest),
    last.release,
  );
}

function newestFirst(releases: readonly KnownRelease[]): readonly KnownRelease[] {
  return releases.toSorted((a, b) => b.since - a.since || (a.release < b.release ? -1 : 1));
}
