import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  AGGREGATIONS,
  type Aggregation,
  COUNTER_LOOKBACK_MS,
  COUNTER_REACH_MS,
} from '#modules/metrics/decide/aggregation.ts';
import type { Buckets } from '#modules/metrics/decide/buckets.ts';
import { aggregate, aggregateOnce, growthOf, inOrder, type Sample } from '#test/kit/metrics/aggregate_model.ts';

const counter = (at: number, value: number): Sample => ({ at, value, kind: 'counter' });
const gauge = (at: number, value: number): Sample => ({ at, value, kind: 'gauge' });
const delta = (at: number, value: number): Sample => ({ at, value, kind: 'delta' });
const stale = (at: number): Sample => ({ at, value: 0, kind: 'stale' });
const increases = (...samples: Sample[]) => growthOf(inOrder(samples)).map(({ by }) => by);

describe('the increase of a counter', () => {
  test('is the difference to the sample before, and nothing for the first', () => {
    expect(increases(counter(0, 100), counter(1, 103), counter(2, 103), counter(3, 110))).toEqual([0, 3, 0, 7]);
  });

  test('begins anew at each reset', () => {
    expect(increases(counter(0, 100), counter(1, 4), counter(2, 6), counter(3, 0))).toEqual([0, 4, 2, 0]);
  });

  test('does not depend on the order of arrival', () => {
    expect(increases(counter(3, 9), counter(0, 1), counter(2, 5), counter(1, 4))).toEqual([0, 3, 1, 4]);
  });

  test('counts a time once; of several values the last to come', () => {
    expect(increases(counter(0, 1), counter(1, 5), counter(1, 5), counter(2, 6), counter(1, 2))).toEqual([0, 1, 4]);
  });

  test('passes over stale markers', () => {
    expect(increases(counter(0, 5), stale(1), counter(2, 7))).toEqual([0, 2]);
  });
});

const BUCKETS: Buckets = { fromMs: 0, toMs: 40, stepMs: 10 };
const over = (aggregation: Aggregation, ...series: Sample[][]) =>
  aggregate(series, aggregation, BUCKETS).map(({ at, value }) => [at, value]);

describe('aggregation', () => {
  test('leaves out buckets without data', () => {
    for (const aggregation of AGGREGATIONS)
      expect(over(aggregation, [gauge(5, 1), gauge(25, 1)])).toEqual([
        [0, 1],
        [20, 1],
      ]);
  });

  test('sums gauges and deltas as they are, and what counters grew by', () => {
    expect(over('sum', [gauge(1, 2), gauge(2, 3)], [delta(3, 4)], [counter(4, 100), counter(5, 107)])).toEqual([
      [0, 16],
    ]);
  });

  test('works on raw values but for sum', () => {
    const series = [counter(1, 100), counter(2, 107), counter(3, 5)];
    expect(over('sum', series)).toEqual([[0, 12]]);
    expect(over('max', series)).toEqual([[0, 107]]);
    expect(over('min', series)).toEqual([[0, 5]]);
    expect(over('count', series)).toEqual([[0, 3]]);
    expect(over('avg', series)).toEqual([[0, 212 / 3]]);
    expect(over('last', series)).toEqual([[0, 5]]);
  });

  test('last adds up the newest sample of each series that has not ended', () => {
    const ended = [gauge(1, 50), stale(2)];
    expect(over('last', [gauge(1, 1), gauge(9, 2)], [gauge(3, 10)], ended, [gauge(12, 7)])).toEqual([
      [0, 12],
      [10, 7],
    ]);
    expect(over('last', ended)).toEqual([]);
    expect(over('count', ended)).toEqual([[0, 1]]);
  });

  test('growth over the window’s edge counts, and after a pause, from as far back as the reach', () => {
    expect(over('sum', [counter(-COUNTER_LOOKBACK_MS, 1), counter(5, 4)])).toEqual([[0, 3]]);
    const paused = -COUNTER_LOOKBACK_MS - 1;
    expect(over('sum', [counter(paused, 1), counter(5, 4)])).toEqual([[0, 3]]);
    expect(over('sum', [{ ...counter(paused, 0), kind: 'start' }, counter(5, 4)])).toEqual([[0, 0]]);
    expect(over('sum', [counter(-COUNTER_REACH_MS, 1), counter(5, 4)])).toEqual([[0, 3]]);
    expect(over('sum', [counter(-COUNTER_REACH_MS - 1, 1), counter(5, 4)])).toEqual([[0, 0]]);
  });

  test('the aggregate of a whole range is one value, or null without data', () => {
    const series = [[gauge(3, 1), gauge(7, 5), gauge(17, 100)]];
    expect(aggregateOnce(series, 'avg', 3, 13)).toBe(3);
    expect(aggregateOnce(series, 'avg', 4, 14)).toBe(5);
    expect(aggregateOnce(series, 'avg', 8, 17)).toBeNull();
  });
});

const sample = fc.record({
  at: fc.integer({ min: -20, max: 45 }),
  value: fc.integer({ min: 0, max: 50 }),
  kind: fc.constantFrom('counter' as const, 'counter' as const, 'stale' as const, 'gauge' as const, 'delta' as const),
});
const someSeries = fc.array(fc.array(sample, { maxLength: 12 }), { maxLength: 4 });

/** Walks every millisecond of every series, remembering what the last one said. */
function slowly(series: readonly (readonly Sample[])[], aggregation: Aggregation): number[][] {
  const result: number[][] = [];
  for (let start = BUCKETS.fromMs; start < BUCKETS.toMs; start += BUCKETS.stepMs) {
    const values: number[] = [];
    const lasts: number[] = [];
    let sum = 0;
    for (const samples of series) {
      let counted: number | null = null;
      let last: number | null = null;
      for (let at = -COUNTER_LOOKBACK_MS / 1000; at < start + BUCKETS.stepMs; at += 1) {
        const found = samples.findLast((candidate) => candidate.at === at);
        if (found === undefined) continue;
        const isInside = at >= start;
        if (isInside) last = found.kind === 'stale' ? null : found.value;
        if (found.kind === 'stale') continue;
        if (isInside) values.push(found.value);
        if (isInside && found.kind !== 'counter') sum += found.value;
        if (isInside && found.kind === 'counter' && counted !== null)
          sum += counted > found.value && 8 * (counted - found.value) >= counted ? found.value : found.value - counted;
        if (found.kind === 'counter') counted = found.value;
      }
      if (last !== null) lasts.push(last);
    }
    const total = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
    const answers = {
      avg: total(values) / values.length,
      sum,
      min: Math.min(...values),
      max: Math.max(...values),
      last: total(lasts),
      count: values.length,
    };
    if (aggregation === 'last' ? lasts.length > 0 : values.length > 0) result.push([start, answers[aggregation]]);
  }
  return result;
}

test.each(AGGREGATIONS)('%s agrees with a slow walk over every millisecond', (aggregation) => {
  fc.assert(
    fc.property(someSeries, (series) => {
      expect(aggregate(series, aggregation, BUCKETS).map(({ at, value }) => [at, value])).toEqual(
        slowly(series, aggregation),
      );
    }),
    { numRuns: 200 },
  );
});

test('the increases of the buckets add up to that of the whole, however it is cut and shuffled', () => {
  const counters = fc.uniqueArray(
    sample.map((drawn): Sample => ({ ...drawn, kind: 'counter' })),
    { selector: ({ at }) => at, maxLength: 20 },
  );
  fc.assert(
    fc.property(counters, fc.integer({ min: 1, max: 40 }), fc.infiniteStream(fc.nat()), (samples, stepMs, shuffle) => {
      const total = (buckets: Buckets, given: readonly Sample[]) =>
        aggregate([given], 'sum', buckets).reduce((sum, { value }) => sum + value, 0);
      const shuffled = samples.toSorted(() => (shuffle.next().value! % 2) - 0.5);
      const toMs = stepMs * Math.ceil(45 / stepMs);
      expect(total({ fromMs: 0, toMs, stepMs }, shuffled)).toBe(total({ fromMs: 0, toMs, stepMs: toMs }, samples));
    }),
  );
});
