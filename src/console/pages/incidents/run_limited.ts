import pLimit from 'p-limit';

/** Concurrent requests: a storm is answered quickly, and the server can still serve others. */
const REQUESTS_AT_ONCE = 4;

/** Runs the work for each id, a few at a time. A failure does not stop the others. */
export async function runLimited<Result>(
  ids: readonly string[],
  work: (id: string) => Promise<Result>,
): Promise<{ done: Result[]; failures: unknown[] }> {
  const limit = pLimit(REQUESTS_AT_ONCE);
  const results = await Promise.allSettled(ids.map((id) => limit(work, id)));
  return {
    done: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    failures: results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
  };
}
