/**
 * Does the work for every item, `atOnce` of them at a time. One that fails holds up no other; the first failure is
 * thrown once all are through.
 */
export async function eachAtOnce<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const rest = items.values();
  const runThrough = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, runThrough));
  if (failures.length > 0) throw failures[0];
}
