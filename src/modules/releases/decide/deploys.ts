import { isAtOrBefore, Temporal } from '#kernel/time.ts';

/** A release going live, as far as it is known. */
export interface Deploy {
  readonly release: string;
  readonly at: Temporal.Instant;
  /** Environment of the deploy; null if nobody reported it, and only the first exception of the release shows it. */
  readonly environment: string | null;
}

interface FirstSeen {
  readonly release: string;
  readonly at: Temporal.Instant;
}

/** Seconds by which a deploy may follow the exception: clocks differ, and its first event may be this very one. */
const AFTER_SECONDS = 60;
/**
 * Minutes by which the deploy of a release may follow its first exception: a release fails while it is rolled out, and
 * the deploy is recorded when that has ended.
 */
export const ROLLED_OUT_WITHIN_MINUTES = 30;

/**
 * Returns deploys, the newest first: those that people and builds have recorded, and the first exceptions of releases
 * that were not `known` to be deployed by anybody.
 */
export function deploysOf(
  recorded: readonly Deploy[],
  firstSeen: readonly FirstSeen[],
  releases: ReadonlySet<string>,
): Deploy[] {
  const recordedReleases = new Set(recorded.map(({ release }) => release));
  const untold = firstSeen.filter(({ release }) => !recordedReleases.has(release) && !releases.has(release));
  return [...recorded, ...untold.map(({ release, at }) => ({ release, at, environment: null }))].toSorted((a, b) =>
    Temporal.Instant.compare(b.at, a.at),
  );
}

/** An exception that a deploy may have brought. */
interface Suspected {
  readonly beganAt: Temporal.Instant;
  /** Environments in which it was seen; empty when its events name none. */
  readonly environments: ReadonlySet<string>;
  /** The release of its first events. */
  readonly firstBadRelease: string | null;
}

/**
 * Returns the deploy that most likely brought an exception: of its own release, or else the last one before it began. A
 * deploy to an environment where the exception was never seen is not to blame.
 */
export function suspectDeployOf(
  deploys: readonly Deploy[],
  { beganAt, environments, firstBadRelease }: Suspected,
): Deploy | null {
  const latestOf = (release: string) =>
    beganAt.add(release === firstBadRelease ? { minutes: ROLLED_OUT_WITHIN_MINUTES } : { seconds: AFTER_SECONDS });
  const possible = deploys
    .filter(({ release, at }) => isAtOrBefore(at, latestOf(release)))
    .filter(({ environment }) => environment === null || environments.size === 0 || environments.has(environment))
    .toSorted((a, b) => Temporal.Instant.compare(b.at, a.at));
  return possible.find(({ release }) => release === firstBadRelease) ?? possible[0] ?? null;
}

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
