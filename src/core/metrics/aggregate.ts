import type { Aggregation } from '#core/metrics/aggregation.ts';
import { bucketStart, type Buckets } from '#core/metrics/buckets.ts';
import { COUNTER_LOOKBACK_MS, growthOf, inOrder, type Sample } from '#core/metrics/increase.ts';

/** A bucket's value; `at` is the bucket's start in epoch milliseconds. */
export interface BucketValue {
  readonly at: number;
  readonly value: number;
}

/**
 * What each aggregation means, in the plainest words: the store does the same in SQL, and tests hold it against this.
 * `series` are the samples of the series selected, in any order and of any time; outside of the window only those of
 * the counter lookback before it matter. Buckets without data are left out; oldest first.
 *
 * `avg`, `min`, `max` and `count` go over all samples of all series in a bucket, counters by their raw value. `sum`
 * adds gauges and deltas as they are, and of counters what they grew by. `last` adds up each series' newest sample,
 * but not those of series that have ended within the bucket.
 */
export function aggregate(
  series: readonly (readonly Sample[])[],
  aggregation: Aggregation,
  buckets: Buckets,
): readonly BucketValue[] {
  const oldest = buckets.fromMs - COUNTER_LOOKBACK_MS;
  const ordered = series.map((samples) => inOrder(samples).filter(({ at }) => at >= oldest));
  const { choose, combine } = MEANINGS[aggregation];
  return fold(
    ordered.flatMap((samples) => choose(samples, buckets.stepMs)),
    buckets,
    combine,
  );
}

/** The one value of the stretch `[fromMs, toMs)`, as a rule compares it; null without data. */
export function aggregateOnce(
  series: readonly (readonly Sample[])[],
  aggregation: Aggregation,
  fromMs: number,
  toMs: number,
): number | null {
  // Moved so that the stretch is the first bucket of all time, whose edges need not be round.
  const moved = series.map((samples) => samples.map((sample) => ({ ...sample, at: sample.at - fromMs })));
  const buckets = { fromMs: 0, toMs: toMs - fromMs, stepMs: toMs - fromMs };
  return aggregate(moved, aggregation, buckets)[0]?.value ?? null;
}

interface Addend {
  readonly at: number;
  readonly value: number;
}

/** What counts of a series, and what becomes of all that counts in a bucket. */
interface Meaning {
  readonly choose: (ordered: readonly Sample[], stepMs: number) => readonly Addend[];
  readonly combine: (found: readonly number[]) => number;
}

const MEANINGS: Readonly<Record<Aggregation, Meaning>> = {
  avg: { choose: values, combine: (found) => total(found) / found.length },
  sum: { choose: addends, combine: total },
  min: { choose: values, combine: (found) => found.reduce((a, b) => Math.min(a, b)) },
  max: { choose: values, combine: (found) => found.reduce((a, b) => Math.max(a, b)) },
  last: { choose: lastOfEach, combine: total },
  count: { choose: values, combine: (found) => found.length },
};

function values(ordered: readonly Sample[]): readonly Addend[] {
  return ordered.filter(({ kind }) => kind !== 'stale');
}

function addends(ordered: readonly Sample[]): readonly Addend[] {
  const growth = growthOf(ordered).map(({ at, by }) => ({ at, value: by }));
  return [...growth, ...ordered.filter(({ kind }) => kind === 'gauge' || kind === 'delta')];
}

function lastOfEach(ordered: readonly Sample[], stepMs: number): readonly Addend[] {
  return ordered.filter(({ at, kind }, i) => {
    const next = ordered[i + 1];
    const isLast = next === undefined || bucketStart(next.at, stepMs) !== bucketStart(at, stepMs);
    return isLast && kind !== 'stale';
  });
}

function fold(
  addends: readonly Addend[],
  { fromMs, toMs, stepMs }: Buckets,
  combine: (found: readonly number[]) => number,
): readonly BucketValue[] {
  const found = new Map<number, number[]>();
  for (const { at, value } of addends) {
    if (at < fromMs || at >= toMs) continue;
    const start = bucketStart(at, stepMs);
    const inBucket = found.get(start);
    if (inBucket === undefined) found.set(start, [value]);
    else inBucket.push(value);
  }
  const buckets = [...found].sort(([a], [b]) => a - b);
  return buckets.map(([at, inBucket]) => ({ at, value: combine(inBucket) }));
}

function total(found: readonly number[]): number {
  return found.reduce((sum, value) => sum + value, 0);
}
