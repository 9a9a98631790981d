import { expect, test } from 'vitest';

import { readRange, toRanges } from '#modules/metrics/decide/exponential_buckets.ts';
import { quantileOf as measureQuantile } from '#modules/metrics/decide/quantile.ts';
import fc from '#test/kit/properties.ts';

const quantileOf = (...asked: Parameters<typeof measureQuantile>) => measureQuantile(...asked)?.value ?? null;

/** Observations as a sender with this scale counts them. */
function histogramOf(observations: readonly number[], scale: number) {
  const indexOf = (value: number): number => Math.ceil(Math.log2(value) * 2 ** scale) - 1;
  const side = (values: readonly number[]) => {
    const indexes = values.map(indexOf);
    const offset = indexes.length === 0 ? 0 : Math.min(...indexes);
    const counts: number[] = [];
    for (const index of indexes) {
      const place = index - offset;
      while (counts.length <= place) counts.push(0);
      counts[place]! += 1;
    }
    return { offset, counts };
  };
  return {
    scale,
    zeroCount: observations.filter((value) => value === 0).length,
    zeroThreshold: 0,
    positive: side(observations.filter((value) => value > 0)),
    negative: side(observations.filter((value) => value < 0).map((value) => -value)),
  };
}

function exact(observations: readonly number[], quantile: number): number {
  const sorted = observations.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)]!;
}

const observations = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.double({ min: 1e-3, max: 1e5, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 2, -1, -300.5) },
  ),
  { minLength: 1, maxLength: 300 },
);

test('a quantile is never off by more than a bucket of the grid is wide, whatever the scale of the sender', () => {
  fc.assert(
    fc.property(
      observations,
      fc.integer({ min: 3, max: 5 }),
      fc.constantFrom(0.01, 0.5, 0.9, 0.95, 0.99, 1),
      (values, scale, quantile) => {
        const ranges = toRanges(histogramOf(values, scale))!;
        const found = quantileOf(
          quantile,
          ranges.map(({ range, count }) => ({ le: '', range, layout: '', growth: count })),
        )!;
        const meant = exact(values, quantile);
        expect(Math.abs(found - meant)).toBeLessThanOrEqual(
          Math.abs(meant) * (2 ** (1 / 8) - 1) + 1e-6 * Math.abs(meant),
        );
      },
    ),
  );
});

test('all observations are kept when buckets merge, and coarser ones stay what they are', () => {
  fc.assert(
    fc.property(observations, fc.integer({ min: -4, max: 5 }), (values, scale) => {
      const ranges = toRanges(histogramOf(values, scale))!;
      expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
      expect(ranges.length).toBeLessThanOrEqual(161);
      for (const { range } of ranges) expect(readRange(range)).not.toBeNull();
    }),
  );
  const coarse = toRanges({ ...histogramOf([], 0), scale: -1, positive: { offset: 1, counts: [3] } });
  expect(coarse).toMatchObject([{ range: '4...16', count: 3 }]);
});

test.each([
  ['a scale that nobody has', { scale: 21 }],
  ['half a scale', { scale: 0.5 }],
  ['fewer than no observations', { positive: { offset: 0, counts: [-1] } }],
  ['an index out of all range', { negative: { offset: 2 ** 40, counts: [1] } }],
])('a histogram with %s is none', (_, part) => {
  expect(toRanges({ ...histogramOf([], 3), ...part })).toBeNull();
});

test('classic buckets answer as Prometheus does', () => {
  const classic = (...pairs: readonly (readonly [string, number])[]) =>
    pairs.map(([le, growth]) => ({ le, range: '', layout: '', growth }));
  const buckets = classic(['0.1', 10], ['0.5', 30], ['1', 40], ['+Inf', 40]);
  expect(quantileOf(0.5, buckets)).toBeCloseTo(0.3, 12);
  expect(quantileOf(0, buckets)).toBe(0);
  expect(quantileOf(1, buckets)).toBe(1);
  expect(quantileOf(0.99, classic(['1', 1], ['+Inf', 100]))).toBe(1);
  expect(quantileOf(0.5, classic(['-5', 10], ['+Inf', 10]))).toBe(-5);
  expect(quantileOf(0.5, classic(['1', 0], ['+Inf', 0]))).toBeNull();
  expect(quantileOf(0.5, [])).toBeNull();
});
