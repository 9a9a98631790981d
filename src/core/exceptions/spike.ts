/** Hours of usual traffic that are looked at: a week, so that days of the week count alike. */
export const LEARNT_HOURS = 24 * 7;
/** With fewer there is no limit yet. */
const HOURS_MIN = 24;
/** This share of the hours may be exceptional without being usual. */
const USUAL_SHARE = 0.95;
/** So much more than usual is a spike. */
const TIMES_USUAL = 5;
/** Fewer events an hour are never too many. */
const EVENTS_MIN = 500;
const EVENTS_MAX = 1_000_000_000;

/**
 * How many events an hour are kept of a service that usually has so many; null while too little is known of it. `hours`
 * are the events of each hour since its first, without the running one. A few hours of a spike change nothing; traffic
 * that stays high becomes usual.
 */
export function usualLimit(hours: readonly number[]): number | null {
  const known = hours.slice(-LEARNT_HOURS);
  if (known.length < HOURS_MIN) return null;
  const ascending = known.toSorted((a, b) => a - b);
  const usual = ascending[Math.ceil(ascending.length * USUAL_SHARE) - 1] ?? 0;
  return Math.min(Math.max(Math.ceil(usual * TIMES_USUAL), EVENTS_MIN), EVENTS_MAX);
}

/** What a service keeps within an hour. */
interface SpikeSettings {
  /** As somebody has set it; null for none. */
  readonly eventsPerHour: number | null;
  /** Whether usual traffic says it. */
  readonly learnsSpikes: boolean;
  readonly learntPerHour: number | null;
}

/** Null for no limit. */
export function limitOf({ eventsPerHour, learnsSpikes, learntPerHour }: SpikeSettings): number | null {
  const learnt = learnsSpikes ? learntPerHour : null;
  if (eventsPerHour === null || learnt === null) return eventsPerHour ?? learnt;
  return Math.min(eventsPerHour, learnt);
}

/**
 * How many of `known` events, all of exceptions that are known, are left out. `total` came within the hour, they among
 * them.
 */
export function excessOf(known: number, total: number, limit: number): number {
  return Math.min(known, Math.max(0, total - limit));
}
