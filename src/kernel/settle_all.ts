/** Waits until every one has ended, whatever becomes of the others; then throws the first failure, if any. */
export async function settleAll(works: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
