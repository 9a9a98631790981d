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
