import { compareReleases, isSameRelease, releaseLineOf } from '#modules/releases/decide/release.ts';

export const FIX_KINDS = ['next_release', 'release'] as const;

/** The release in which people say that an error is fixed. */
export interface Fix {
  /** Whether the fix is in the release after the named one, or in the named one. */
  readonly kind: (typeof FIX_KINDS)[number];
  readonly release: string;
  /** Releases that were known at the time of the decision. */
  readonly knownReleases: readonly string[];
}

/** Trust in a release: one event named it, several of one client did, or a deploy or several clients. */
export const RELEASE_TRUST = { oneEvent: 0, oneClient: 1, confirmed: 2 } as const;
export type ReleaseTrust = (typeof RELEASE_TRUST)[keyof typeof RELEASE_TRUST];

export interface KnownRelease {
  readonly release: string;
  /** Time in epoch milliseconds when it became known. */
  readonly since: number;
  /** Trust in its name: anybody may name any release in a single event. */
  readonly trust: ReleaseTrust;
}

/** Limit on the releases that a fix records; the ones that became known last are kept. */
const KNOWN_MAX = 500;

/**
 * Whether an event of this release comes from code without the fix: it does not bring a resolved group back. The next
 * release is any that became known after the decision, however its name sorts. A release that is named is compared by
 * its version, and one that cannot be compared by whether it was known. An event without a release may come from
 * anywhere.
 */
export function isBeforeFix(fix: Fix, release: string | null): boolean {
  if (release === null) return false;
  const order = fix.kind === 'release' ? compareReleases(release, fix.release) : null;
  if (order !== null) return order < 0;
  return fix.knownReleases.some((knownRelease) => isSameRelease(knownRelease, release));
}

/** Returns the releases that a fix records, out of those known now. */
export function releasesToRemember(releases: readonly KnownRelease[]): readonly string[] {
  return [...new Set(newestFirst(releases).map(({ release }) => release))].slice(0, KNOWN_MAX);
}

/**
 * Returns the release that the next one follows: the last to become known, or one that is known to be newer; of those
 * that are trusted most. Null for none.
 */
export function newestRelease(releases: readonly KnownRelease[]): string | null {
  const trusted = trustedMost(releases);
  const [last] = newestFirst(trusted);
  return last === undefined ? null : newestOf(last.release, trusted);
}

/**
 * Returns the release in which a group is resolved whose last event was of `last`: that one, unless it is newer than
 * those of its product that are trusted most. Then it is the newest of those, so that an invented release silences
 * nothing.
 */
export function releaseToResolveIn(last: string | null, releases: readonly KnownRelease[]): string | null {
  const line = last === null ? null : releaseLineOf(last);
  if (last === null || line === null) return last;
  const trusted = trustedMost(releases.filter(({ release }) => releaseLineOf(release) === line));
  const [first] = trusted;
  const newest = first === undefined ? last : newestOf(first.release, trusted);
  return (compareReleases(last, newest) ?? 0) > 0 ? newest : last;
}

function trustedMost(releases: readonly KnownRelease[]): readonly KnownRelease[] {
  const most = releases.reduce((greatest, { trust }) => Math.max(greatest, trust), 0);
  return releases.filter(({ trust }) => trust === most);
}

function newestOf(start: string, releases: readonly KnownRelease[]): string {
  return releases.reduce(
    (newest, { release }) => ((compareReleases(newest, release) ?? 0) < 0 ? release : newest),
    start,
  );
}

function newestFirst(releases: readonly KnownRelease[]): readonly KnownRelease[] {
  return releases.toSorted((a, b) => b.since - a.since || (a.release < b.release ? -1 : 1));
}
