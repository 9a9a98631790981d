/** Hours of history that are used: a week, so that days of the week count alike. */
export const LEARNT_HOURS = 24 * 7;
/** Least number of hours of history; with fewer there is no limit yet. */
const HOURS_MIN = 24;
/** Share of the hours that counts as usual; the rest may be exceptional. */
const USUAL_SHARE = 0.95;
/** Multiple of the usual traffic that is a spike. */
const TIMES_USUAL = 5;
/** Bounds of a learnt limit, in events an hour. Fewer events than the lower bound are never too many. */
const EVENTS_MIN = 500;
const EVENTS_MAX = 1_000_000_000;

/**
 * Returns the learnt limit in events an hour; null while too little is known of the service. `hours` are the events of
 * each hour since its first, without the current one. A few hours of a spike change nothing; traffic that stays high
 * becomes usual.
 */
export function usualLimit(hours: readonly number[]): number | null {
  const hoursLearnt = hours.slice(-LEARNT_HOURS);
  if (hoursLearnt.length < HOURS_MIN) return null;
  const ascending = hoursLearnt.toSorted((a, b) => a - b);
  const usual = ascending[Math.ceil(ascending.length * USUAL_SHARE) - 1] ?? 0;
  return Math.min(Math.max(Math.ceil(usual * TIMES_USUAL), EVENTS_MIN), EVENTS_MAX);
}

/** Settings that limit the events a service keeps within an hour. */
interface SpikeSettings {
  /** Limit that somebody has set; null for none. */
  readonly eventsPerHour: number | null;
  /** Whether a limit follows from usual traffic. */
  readonly learnsSpikes: boolean;
  readonly learntPerHour: number | null;
}

/** Returns the limit in events an hour; null for none. */
export function limitOf({ eventsPerHour, learnsSpikes, learntPerHour }: SpikeSettings): number | null {
  const learnt = learnsSpikes ? learntPerHour : null;
  if (eventsPerHour === null || learnt === null) return eventsPerHour ?? learnt;
  return Math.min(eventsPerHour, learnt);
}

/** Returns how many of `known` events of known exceptions are left out; `total` includes them, and came in the hour. */
export function excessOf(counted: number, total: number, limit: number): number {
  return Math.min(counted, Math.max(0, total - limit));
}
