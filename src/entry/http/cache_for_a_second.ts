import type { Clock } from '#kernel/time.ts';

const KEPT_MS = 1_000;

/**
 * Runs the work at most once a second, however many callers there are: callers that come while it is under way, or
 * within a second of it, share its result. A failure is not cached.
 */
export function cacheForASecond<Result>(clock: Clock, work: () => Promise<Result>): () => Promise<Result> {
  let kept: { readonly outcome: Promise<Result>; readonly at: number; readonly clockAt: number } | null = null;
  return async () => {
    const at = performance.now();
    const clockAt = clock.now().epochMilliseconds;
    if (kept !== null && at - kept.at < KEPT_MS && Math.abs(clockAt - kept.clockAt) < KEPT_MS)
      return await kept.outcome;
    const outcome = work();
    const entry = { outcome, at, clockAt };
    kept = entry;
    try {
      return await outcome;
    } catch (error) {
      if (kept === entry) kept = null;
      throw error;
    }
  };
}
