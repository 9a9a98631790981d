import type { Temporal } from '#kernel/time.ts';

/** Points that are older than this when they have been stored are late. */
const LATE_MS = 60_000;

/** The evaluation of rules reads what is younger than this again each time; clocks of processes may be half a minute apart. */
export const READ_AGAIN_MS = LATE_MS + 30_000;

/** For so long after late points were stored, what is in memory of their service is not relied on. */
export const LATE_FOR_MS = 3 * 60_000;

/** Whether points of which the oldest was taken at this time came so late that an evaluation that reads only what is new misses them. */
export function isLate(oldestMs: number, storedAt: Temporal.Instant): boolean {
  return oldestMs < storedAt.epochMilliseconds - LATE_MS;
}
