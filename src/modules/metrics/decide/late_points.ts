import type { Temporal } from '#kernel/time.ts';

/** Age from which points are late when they have been stored. */
const LATE_MS = 60_000;

/** Age up to which rules read points again at each evaluation; clocks of processes may be half a minute apart. */
export const READ_AGAIN_MS = LATE_MS + 30_000;

/** Time after late points were stored in which the cached points of their service are not relied on. */
export const LATE_FOR_MS = 3 * 60_000;

/** Whether points, the oldest at `oldestMs`, came so late that an evaluation that reads only new points misses them. */
export function isLate(oldestMs: number, storedAt: Temporal.Instant): boolean {
  return oldestMs < storedAt.epochMilliseconds - LATE_MS;
}
