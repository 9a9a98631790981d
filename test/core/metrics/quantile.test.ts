import { describe, expect, test } from 'vitest';

import { toRanges } from '#core/metrics/exponential_buckets.ts';
import { quantileOf } from '#core/metrics/quantile.ts';

const classic = (le: string, growth: number) => ({ le, range: '', growth });
const range = (from: number, to: number, growth: number) => ({ le: '', range: `${from}...${to}`, growth });
const side = { offset: 0, counts: [] };

test('within bounds of the sender the quantile is interpolated by value, as Prometheus 3.5 does', () => {
  expect(quantileOf(0.5, [range(1, 5, 100)])).toBe(3);
  expect(quantileOf(0.5, [range(-5, -1, 100)])).toBe(-3);
  expect(quantileOf(0.9, [range(1, 3, 50), range(3, 10, 50)])).toBeCloseTo(8.6, 10);
});

test.each([3, 2, 0, -2])('within exponential buckets of scale %i it is interpolated by logarithm', (scale) => {
  const histogram = { scale, zeroCount: 0, zeroThreshold: 0, negative: side, positive: { offset: 5, counts: [8] } };
  const [only] = toRanges(histogram)!;
  const base = 2 ** (2 ** -scale);
  expect(quantileOf(0.5, [{ le: '', range: only!.range, growth: 8 }])! / base ** 5.5).toBeCloseTo(1, 4);
});

describe('senders of both forms', () => {
  const quick = [classic('1', 900), classic('5', 900), classic('+Inf', 900)];
  const slow = [range(4, 4.36203, 100)];

  test('count together where they are not the same observations', () => {
    expect(quantileOf(0.5, [...quick, ...slow])).toBeCloseTo(500 / 900, 6);
    expect(quantileOf(0.95, [...quick, ...slow])).toBeCloseTo(4 * 1.0905 ** 0.5, 2);
  });

  test('are answered by the finer one where they are', () => {
    const same = [classic('5', 100), classic('+Inf', 100)];
    expect(quantileOf(0.5, [...same, ...slow])).toBe(quantileOf(0.5, slow));
  });

  test('overlap by their shares', () => {
    const both = [classic('1', 0), classic('3', 100), classic('+Inf', 100), range(2, 4, 400)];
    // 50 lie in (1, 2]; 50 and 234 in (2, 3]; 166 in (3, 4].
    expect(quantileOf(0.1, both)).toBeCloseTo(2, 6);
    expect(quantileOf((50 + 50 + 400 * Math.log2(1.5)) / 500, both)).toBeCloseTo(3, 6);
    expect(quantileOf(1, both)).toBeCloseTo(4, 6);
  });
});

test('above the highest bound it is that bound', () => {
  expect(quantileOf(0.99, [classic('1', 10), classic('+Inf', 100)])).toBe(1);
});
