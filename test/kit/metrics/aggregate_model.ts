import { type Aggregation, COUNTER_LOOKBACK_MS, COUNTER_REACH_MS } from '#modules/metrics/decide/aggregation.ts';
import { type Buckets, bucketStart, type BucketValue } from '#modules/metrics/decide/buckets.ts';
import { growthBetween } from '#modules/metrics/decide/series_points.ts';
import { isOfWholeHours } from '#modules/metrics/decide/rollup_plan.ts';
import type { PointKind } from '#modules/metrics/decide/point.ts';

/** One point of one series. `at` is in epoch milliseconds. */
export interface Sample {
  readonly at: number;
  readonly value: number;
  readonly kind: PointKind;
}

/** Growth of a counter up to the sample at this time. */
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
 * Returns the growth of a counter from sample to sample; `ordered` is what `inOrder` gave. A value far below the one
 * before it is a reset: the counter began again at 0 and grew to what it is. The first sample is
 * where counting begins and grows by nothing, since what a process counted before it was first seen is not growth of
 * now; Prometheus's `increase` says the same. Unlike it, nothing is extrapolated to the window's edges: the increase of
 * a counter of requests is a whole number, and the increases of adjoining buckets add up to that of both. Stale markers
 * are passed over. Where the sender said when the counter began at 0, or what the same process had counted before, the
 * next sample grows by the difference.
 */
export function growthOf(ordered: readonly Sample[]): readonly Growth[] {
  const growth: Growth[] = [];
  let previous: number | null = null;
  for (const { at, value, kind } of ordered) {
    if (kind === 'start') {
      previous = value;
      continue;
    }
    if (kind !== 'counter') continue;
    if (previous === null) growth.push({ at, by: 0 });
    else growth.push({ at, by: growthBetween(previous, value) });
    previous = value;
  }
  return growth;
}

/**
 * A plain implementation of the aggregations, against which the SQL of the store is tested. `series` are the samples of
 * the selected series, in any order and of any time; outside of the window only those of the counter lookback before it
 * matter, and for a counter the newest sample within its reach. Buckets without data are left out; oldest first.
 */
export function aggregate(
  series: readonly (readonly Sample[])[],
  aggregation: Aggregation,
  buckets: Buckets,
  reachMs = isOfWholeHours(buckets) ? COUNTER_LOOKBACK_MS : COUNTER_REACH_MS,
): readonly BucketValue[] {
  const oldest = buckets.fromMs - COUNTER_LOOKBACK_MS;
  const reach = buckets.fromMs - reachMs;
  const ordered = series.map((samples) => {
    const own = inOrder(samples);
    const before = own.findLast(
      ({ at, kind }) => at < oldest && at >= reach && (kind === 'counter' || kind === 'start'),
    );
    const within = own.filter(({ at }) => at >= oldest);
    return before?.kind === 'counter' ? [before, ...within] : within;
  });
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
  return aggregate(moved, aggregation, buckets, COUNTER_REACH_MS)[0]?.value ?? null;
}

interface Addend {
  readonly at: number;
  readonly value: number;
}

/** Reference of an aggregation: the addends of a series, and how those of a bucket are combined. */
interface Meaning {
  readonly choose: (ordered: readonly Sample[], stepMs: number) => readonly Addend[];
  readonly combine: (numbers: readonly number[]) => number;
}

const MEANINGS: Readonly<Record<Aggregation, Meaning>> = {
  avg: { choose: values, combine: (numbers) => total(numbers) / numbers.length },
  sum: { choose: addends, combine: total },
  min: { choose: values, combine: (numbers) => numbers.reduce((a, b) => Math.min(a, b)) },
  max: { choose: values, combine: (numbers) => numbers.reduce((a, b) => Math.max(a, b)) },
  last: { choose: lastOfEach, combine: total },
  count: { choose: values, combine: (numbers) => numbers.length },
};

function values(ordered: readonly Sample[]): readonly Addend[] {
  return ordered.filter(({ kind }) => kind !== 'stale' && kind !== 'start');
}

function addends(ordered: readonly Sample[]): readonly Addend[] {
  const growth = growthOf(ordered).map(({ at, by }) => ({ at, value: by }));
  return [...growth, ...ordered.filter(({ kind }) => kind === 'gauge' || kind === 'delta')];
}

function lastOfEach(samples: readonly Sample[], stepMs: number): readonly Addend[] {
  const ordered = samples.filter(({ kind }) => kind !== 'start');
  return ordered.filter(({ at, kind }, i) => {
    const next = ordered[i + 1];
    const isLast = next === undefined || bucketStart(next.at, stepMs) !== bucketStart(at, stepMs);
    return isLast && kind !== 'stale';
  });
}

function fold(
  addends: readonly Addend[],
  { fromMs, toMs, stepMs }: Buckets,
  combine: (numbers: readonly number[]) => number,
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

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value, 0);
}
