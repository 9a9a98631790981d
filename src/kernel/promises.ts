import { setTimeout as delay } from 'node:timers/promises';

import { isUnavailable } from '#kernel/errors.ts';

/**
 * Returns the result of the work, or of `onTimeout` (which may throw) when the work takes longer. The work itself is
 * not cancelled; what it does later is ignored.
 */
export async function withTimeout<Result, Late = never>(
  work: Promise<Result>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<Result | Late> {
  const { promise: late, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => resolve(Promise.try(onTimeout) as Promise<Late>), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** Waits until all promises have settled, then throws the first failure, if any. */
export async function waitForAll(works: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Wraps work so that it is done when its result is first needed; work that failed is done again. */
export function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | null = null;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    }));
}

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
