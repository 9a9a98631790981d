/** Agreement of groups with labels. */
export interface Score {
  /** Share of the pairs in one group that have one label. */
  readonly precision: number;
  /** Share of the pairs with one label that are in one group. */
  readonly recall: number;
  /** Share of events in a group that holds all events of their label and no others. */
  readonly accuracy: number;
  readonly items: number;
}

interface Labelled {
  readonly label: string;
  readonly key: string;
}

export function scoreOf(items: readonly Labelled[]): Score {
  const labels = countBy(items, ({ label }) => label);
  const keys = countBy(items, ({ key }) => key);
  const both = countBy(items, ({ label, key }) => `${label}\n${key}`);
  const right = items.filter(({ label, key }) => {
    const same = both.get(`${label}\n${key}`);
    return same === labels.get(label) && same === keys.get(key);
  });
  return {
    precision: share(pairs(both), pairs(keys)),
    recall: share(pairs(both), pairs(labels)),
    accuracy: share(right.length, items.length),
    items: items.length,
  };
}

function countBy(items: readonly Labelled[], by: (item: Labelled) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(by(item), (counts.get(by(item)) ?? 0) + 1);
  return counts;
}

function pairs(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + (count * (count - 1)) / 2, 0);
}

function share(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
