import { setTimeout as delay } from 'node:timers/promises';

import { isUnavailable } from '#kernel/errors.ts';

interface RetryPauses {
  /** Pause between a failure and the next try. */
  readonly pauseMs: number;
  /** Longest pause, up to which pauses double; absent, all are the same. */
  readonly pauseMsMax?: number;
  /** Time after the first try from which a failure is the last. */
  readonly timeoutMs: number;
  /** Called before each pause. */
  readonly onFailure?: (error: unknown) => void;
}

interface RetryOptions extends RetryPauses {
  /** Whether another try may succeed; any other error is thrown at once. */
  readonly mayRetry: (error: unknown) => boolean;
}

/** Does the work until it succeeds or its time is over, and then throws the last error. */
export async function retry<Result>(work: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const deadline = performance.now() + options.timeoutMs;
  let pauseMs = options.pauseMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!options.mayRetry(error) || performance.now() > deadline) throw error;
      options.onFailure?.(error);
    }
    await delay(pauseMs);
    pauseMs = Math.max(pauseMs, Math.min(2 * pauseMs, options.pauseMsMax ?? 0));
  }
}

/** Does the work again while a store does not answer. */
export async function retryWhileUnavailable<Result>(work: () => Promise<Result>, pauses: RetryPauses): Promise<Result> {
  return await retry(work, { ...pauses, mayRetry: isUnavailable });
}
