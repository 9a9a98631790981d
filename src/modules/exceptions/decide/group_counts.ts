import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';

export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

export interface ReleaseCount {
  readonly release: string;
  readonly events: number;
  readonly users: number;
  /** Time in RFC 3339. */
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
}

/** Number of events on each UTC day that has any, oldest first. */
export type DayCounts = readonly (readonly [day: string, events: number])[];

/** Counts over the stored events of a group. An event that was sent twice counts once. */
export interface GroupTotals {
  readonly events: number;
  /** Distinct users among those events that named one. */
  readonly users: number;
  /** False when any event was caught by nothing in the application; null when no client said. */
  readonly isHandled: boolean | null;
  readonly days: DayCounts;
  /** Environments, the most frequent first. */
  readonly environments: readonly ValueCount[];
  /** Releases, the newest first; `releasesTotal` is the number of all. */
  readonly releases: readonly ReleaseCount[];
  readonly releasesTotal: number;
}

export const EMPTY_TOTALS: GroupTotals = {
  events: 0,
  users: 0,
  isHandled: null,
  days: [],
  environments: [],
  releases: [],
  releasesTotal: 0,
};

/** Returns the last `count` UTC days, oldest first, today last: `2027-01-31`. */
export function lastDays(now: Temporal.Instant, count: number): string[] {
  const today = now.toZonedDateTimeISO('UTC').toPlainDate();
  return Array.from({ length: count }, (_, index) => today.subtract({ days: count - 1 - index }).toString());
}

/** Returns the start of the first of these days. */
export function startOfDays(days: readonly string[]): Temporal.Instant {
  return Temporal.PlainDate.from(days[0] ?? '1970-01-01')
    .toZonedDateTime('UTC')
    .toInstant();
}

/** Returns one number for each of these days. */
export function countsOn(days: DayCounts, wanted: readonly string[]): number[] {
  const byDay = new Map(days);
  return wanted.map((day) => byDay.get(day) ?? 0);
}

/** Returns the time when the counts change without a new event: when the oldest day expires. Null without events. */
export function outdatedAt({ days }: GroupTotals, retentionDays: number): Temporal.Instant | null {
  const [oldest] = days[0] ?? [];
  if (oldest === undefined) return null;
  const dayAfter = Temporal.PlainDate.from(oldest).add({ days: 1 }).toZonedDateTime('UTC').toInstant();
  return dayAfter.add({ hours: 24 * retentionDays });
}

/** Groups are counted again at multiples of this, all that are due together: a count of few takes most of what one of many does. */
const ROUND_MS = 4_000;
const REST_MS_MAX = 600_000;
/**
 * Multiple of a count's duration for which the next one waits: counting takes at most a fiftieth of one core of the
 * event store, however many events a group has.
 */
const SHARE = 50;

/** Returns until when a group is not counted again after a count that took this long, even if events keep coming. */
export function restUntil(now: Temporal.Instant, tookMs: number): Temporal.Instant {
  const endMs = now.epochMilliseconds + Math.min(REST_MS_MAX - ROUND_MS, SHARE * tookMs);
  return fromEpochMilliseconds((Math.floor(endMs / ROUND_MS) + 1) * ROUND_MS);
}

/** Periods over which a group's events are compared, each ending now. */
export interface GroupPeriods {
  readonly weekStart: Temporal.Instant;
  readonly weekBeforeStart: Temporal.Instant;
  /** Seven UTC days, oldest first, today last: `2027-01-31`. */
  readonly days: readonly string[];
}

const DAYS = 7;
const WEEK_HOURS = 7 * 24;

export function periodsAt(now: Temporal.Instant): GroupPeriods {
  const today = now.toZonedDateTimeISO('UTC').startOfDay();
  const days = Array.from({ length: DAYS }, (_, index) => today.subtract({ days: DAYS - 1 - index }));
  return {
    weekStart: now.subtract({ hours: WEEK_HOURS }),
    weekBeforeStart: now.subtract({ hours: 2 * WEEK_HOURS }),
    days: days.map((day) => day.toPlainDate().toString()),
  };
}
