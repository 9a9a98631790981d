/** The one import of Temporal: Node 24 has no global of that name. */
import { Temporal } from 'temporal-polyfill';

export { Temporal };

type Instant = Temporal.Instant;

/** Source of `now`. Processes read the clock of the database, tests move their own. */
export interface Clock {
  now(): Instant;
  /** Factor by which others may take longer to answer than in production: tests share a busy machine. Absent: 1. */
  readonly patience?: number;
}

export const systemClock: Clock = { now: () => Temporal.Now.instant() };

/** Returns how long others may take to answer, in the unit of the limit, by the patience of the clock. */
export function limitBy({ patience = 1 }: Clock, limit: number): number {
  return patience * limit;
}

/** The last instant that every store can hold (PostgreSQL, ClickHouse's DateTime64, JavaScript). */
export const FAR_FUTURE = Temporal.Instant.from('2200-01-01T00:00:00Z');

/** Adds minutes and stops at FAR_FUTURE: the contract lets `afterMinutes` reach 2^53-1, where Temporal throws. */
export function addMinutesSaturating(instant: Instant, minutes: number): Instant {
  const millisecondsLeft = FAR_FUTURE.epochMilliseconds - instant.epochMilliseconds;
  return minutes * 60_000 >= millisecondsLeft ? FAR_FUTURE : instant.add({ minutes });
}

/** Formats a time as RFC 3339 in UTC with milliseconds: the only form in which times leave the product. */
export function toTimestamp(instant: Instant): string {
  // The polyfill's own toString gives the same and takes ten times as long.
  return new Date(instant.epochMilliseconds).toISOString();
}

export function toTimestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : toTimestamp(instant);
}

/** Converts a date of the Postgres driver. */
export function fromDate(date: Date): Instant {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime());
}

export function fromEpochMilliseconds(milliseconds: number): Instant {
  return Temporal.Instant.fromEpochMilliseconds(milliseconds);
}

export function toDate(instant: Instant): Date {
  return new Date(instant.epochMilliseconds);
}

export function isAtOrBefore(a: Instant, b: Instant): boolean {
  return Temporal.Instant.compare(a, b) <= 0;
}
