import { expect, test } from 'vitest';

import { bucketsBefore, toGrid } from '#modules/metrics/decide/exponential_buckets.ts';
import fc from '#test/kit/properties.ts';

interface Sent {
  readonly scale: number;
  readonly positive?: readonly number[];
  readonly negative?: readonly number[];
  readonly zero?: number;
  readonly threshold?: number;
}

function gridOf({ scale, positive = [], negative = [], zero = 0, threshold = 0 }: Sent) {
  const side = (counts: readonly number[]) => ({ offset: 0, counts });
  const grid = toGrid({
    scale,
    zeroCount: zero,
    zeroThreshold: threshold,
    positive: side(positive),
    negative: side(negative),
  });
  if (grid === null) throw new Error('no histogram');
  return grid;
}

test('the same layout needs nothing', () => {
  expect(bucketsBefore(gridOf({ scale: 2, positive: [1] }), gridOf({ scale: 2, positive: [3, 1] }))).toBeNull();
  // Both are finer than the grid.
  expect(bucketsBefore(gridOf({ scale: 8, positive: [1] }), gridOf({ scale: 4, positive: [3, 1] }))).toBeNull();
});

test('a lower resolution merges the buckets of before (specification of native histograms)', () => {
  const before = gridOf({ scale: 3, positive: [1, 2, 0, 4], negative: [8, 16] });
  const now = gridOf({ scale: 2, positive: [3, 5, 9], negative: [24] });
  expect(now.buckets.map(({ side, index }) => [side, index])).toEqual([
    [-1, 0],
    [1, 0],
    [1, 1],
    [1, 2],
  ]);
  expect(bucketsBefore(before, now)).toEqual([24, 3, 4, 0]);
});

test('a higher resolution is a reset', () => {
  expect(bucketsBefore(gridOf({ scale: 1, positive: [7] }), gridOf({ scale: 2, positive: [1, 2] }))).toEqual([0, 0]);
});

test('a wider zero bucket takes up the buckets that it covers', () => {
  const before = gridOf({ scale: 0, positive: [1, 2, 4], zero: 10, threshold: 0.5 });
  const now = gridOf({ scale: 0, positive: [0, 2, 5], zero: 12, threshold: 2 });
  expect(bucketsBefore(before, now)).toEqual([11, 2, 4]);
});

test('the 161st bucket merges all in the store, and what was there before is known', () => {
  const counts = Array.from({ length: 160 }, (_, index) => index + 1);
  const [before, now] = [gridOf({ scale: 3, positive: counts }), gridOf({ scale: 3, positive: [...counts, 7] })];
  expect([before.scale, now.scale]).toEqual([3, 2]);
  const gained = bucketsBefore(before, now)?.map((count, place) => (now.buckets[place]?.count ?? 0) - count);
  expect(gained?.filter((count) => count !== 0)).toEqual([7]);
});

test('whatever the resolution falls to, exactly what is new is gained', () => {
  const counts = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(
      counts,
      counts,
      fc.integer({ min: -4, max: 3 }),
      fc.integer({ min: 0, max: 5 }),
      (old, added, scale, falls) => {
        const total = Array.from(
          { length: Math.max(old.length, added.length) },
          (_, i) => (old[i] ?? 0) + (added[i] ?? 0),
        );
        const merged: number[] = [];
        for (const [index, count] of total.entries()) {
          const place = Math.floor(index / 2 ** falls);
          merged[place] = (merged[place] ?? 0) + count;
        }
        const now = gridOf({ scale: scale - falls, positive: merged });
        const before = bucketsBefore(gridOf({ scale, positive: old }), now);
        if (before === null) return;
        const gained = now.buckets.reduce((sum, { count }, place) => sum + count - (before[place] ?? 0), 0);
        expect(gained).toBe(added.reduce((sum, count) => sum + count, 0));
      },
    ),
  );
});
