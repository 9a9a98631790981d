import type { PointKind } from '#core/metrics/point.ts';

/** One point of one series. `at` is in epoch milliseconds. */
export interface Sample {
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

/**
 * How far before a window a counter's previous sample is looked for, so that growth across the window's edge counts:
 * as long as Prometheus takes a silent series to be alive.
 */
export const COUNTER_LOOKBACK_MS = 5 * 60_000;

/** What a counter grew by up to the sample at this time. */
export interface Growth {
  readonly at: number;
  readonly by: number;
}

/**
 * The samples of one series in order of time, each time once: a sender's retry repeats a time, and where it brings
 * another value the one that came last counts. Late and disordered samples end where they belong.
 */
export function inOrder(samples: readonly Sample[]): readonly Sample[] {
  const latest = new Map<number, Sample>();
  for (const sample of samples) latest.set(sample.at, sample);
  return [...latest.values()].sort((a, b) => a.at - b.at);
}

/**
 * How a counter grew from sample to sample; `ordered` is what `inOrder` gave. A value below the one before it is a
 * reset: the counter began again at 0 and grew to what it is. The first sample is where counting begins and grows by
 * nothing, since what a process counted before it was first seen is not growth of now; Prometheus's `increase` says
 * the same. Unlike it, nothing is extrapolated to the window's edges: the increase of a counter of requests is a
 * whole number, and the increases of adjoining buckets add up to that of both. Stale markers are passed over.
 */
export function growthOf(ordered: readonly Sample[]): readonly Growth[] {
  const growth: Growth[] = [];
  let previous: number | null = null;
  for (const { at, value, kind } of ordered) {
    if (kind !== 'counter') continue;
    if (previous === null) growth.push({ at, by: 0 });
    else growth.push({ at, by: value < previous ? value : value - previous });
    previous = value;
  }
  return growth;
}
