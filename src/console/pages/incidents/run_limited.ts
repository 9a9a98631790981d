/** So many requests at a time: a storm is answered quickly, and the server still serves others. */
const AT_ONCE = 4;

/** Does the work for each id; resolves to what came of it. */
export async function runLimited<Result>(
  ids: readonly string[],
  work: (id: string) => Promise<Result>,
): Promise<{ done: Result[]; failures: unknown[] }> {
  const left = [...ids];
  const done: Result[] = [];
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        done.push(await work(id));
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { done, failures };
}
