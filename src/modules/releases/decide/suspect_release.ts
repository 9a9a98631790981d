interface SeenRelease {
  readonly release: string;
  /** Time in RFC 3339, UTC with milliseconds: sorts as text. */
  readonly firstSeenAt: string;
}

/**
 * Returns the release that brought the exception, or brought it back: the first one whose events came at or after it
 * reopened, or else the first one of all. Null when no event named a release.
 */
export function firstBadRelease<Release extends SeenRelease>(
  releases: readonly Release[],
  reopenedAt: string | null,
): Release | null {
  const oldestFirst = releases
    .filter(({ release }) => release !== '')
    .toSorted((a, b) => compare(a.firstSeenAt, b.firstSeenAt) || compare(a.release, b.release));
  const since = reopenedAt === null ? undefined : oldestFirst.find(({ firstSeenAt }) => firstSeenAt >= reopenedAt);
  return since ?? (reopenedAt === null ? oldestFirst[0] : oldestFirst.at(-1)) ?? null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
