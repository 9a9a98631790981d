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
