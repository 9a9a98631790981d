import { expect, test } from 'vitest';

import { downsamplePoints, summaryOf } from '#modules/metrics/decide/buckets.ts';
import fc from '#test/kit/properties.ts';

const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 400 });

test('a summary holds the limits, percentiles that were there, and the newest value', () => {
  expect(summaryOf([])).toBeNull();
  expect(summaryOf(Array.from({ length: 100 }, (_, index) => index + 1))).toEqual({
    min: 1,
    p50: 50,
    p95: 95,
    max: 100,
    last: 100,
  });
  fc.assert(
    fc.property(values, (some) => {
      const { min, p50, p95, max, last } = summaryOf(some)!;
      expect([min, max, last]).toEqual([Math.min(...some), Math.max(...some), some.at(-1)]);
      expect(min <= p50 && p50 <= p95 && p95 <= max).toBe(true);
      expect(some).toContain(p95);
    }),
  );
});

test('a thinned series stays in order, within its limit, and keeps what is furthest from the middle', () => {
  fc.assert(
    fc.property(values, fc.integer({ min: 2, max: 60 }), (some, most) => {
      const points = some.map((value, at) => ({ at, value }));
      const kept = downsamplePoints(points, most);
      expect(kept.length).toBeLessThanOrEqual(most);
      expect(kept).toEqual(points.filter((point) => kept.includes(point)));
      expect(kept.at(-1)).toBe(points.at(-1));
      const middle = some.toSorted((a, b) => a - b)[Math.floor(some.length / 2)]!;
      const furthest = (among: readonly { value: number }[]) =>
        Math.max(...among.map(({ value }) => Math.abs(value - middle)));
      expect(furthest(kept)).toBe(furthest(points));
    }),
  );
});
