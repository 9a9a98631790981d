import { seeded } from '#infra/bench/seeded.ts';

const MANY = 200_000;

/** What was observed, smallest first. */
export interface Observations {
  readonly name: string;
  readonly about: string;
  readonly sorted: Float64Array;
}

/** Four shapes of durations in seconds, the same in each run. */
export function observations(seed: number): readonly Observations[] {
  const random = seeded(seed);
  /** About a normal distribution of deviation 1. */
  const normal = (): number => Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
  const made = (name: string, about: string, one: () => number): Observations => ({
    name,
    about,
    sorted: Float64Array.from({ length: MANY }, one).toSorted(),
  });
  return [
    made('web', 'log-normal around 80 ms', () => 0.08 * Math.exp(0.7 * normal())),
    made('cache', 'nine of ten around 2 ms, the others around 400 ms', () =>
      random() < 0.9 ? 0.002 * Math.exp(0.2 * normal()) : 0.4 * Math.exp(0.15 * normal()),
    ),
    made('tail', 'Pareto: from 50 ms, a long tail', () => 0.05 / (1 - random()) ** 0.6),
    made('even', 'evenly from 0 to 2 s', () => 2 * random()),
  ];
}

/** The smallest observation that is not exceeded by this share. */
export function exactQuantile({ sorted }: Observations, quantile: number): number {
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? 0;
}

/** How many are not above each bound. */
export function countsUpTo({ sorted }: Observations, bounds: readonly number[]): readonly number[] {
  return bounds.map((bound) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) <= bound) low = middle + 1;
      else high = middle;
    }
    return low;
  });
}

/** How many lie above `base ** index` and up to `base ** (index + 1)`, where `base ** (2 ** scale)` is 2. */
export function exponentialCounts({ sorted }: Observations, scale: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const value of sorted) {
    const index = Math.ceil(Math.log2(value) * 2 ** scale) - 1;
    counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  return counts;
}

/** The finest scale whose buckets are no more than this, as an SDK chooses it. */
export function finestScale(of: Observations, bucketsMax: number): number {
  for (let scale = 20; scale > -10; scale -= 1) {
    const [least, greatest] = [of.sorted[0] ?? 1, of.sorted.at(-1) ?? 1].map((value) =>
      Math.ceil(Math.log2(value) * 2 ** scale),
    ) as [number, number];
    if (greatest - least < bucketsMax) return scale;
  }
  return -10;
}
