import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { bucketStart, cutWindow } from '#modules/metrics/decide/buckets.ts';
import { Temporal } from '#kernel/time.ts';

test.each([
  [1, 1],
  [4, 1],
  [5, 5],
  [24, 5],
  [25, 10],
  [60, 15],
  [74, 15],
  [75, 30],
  [150, 60],
  [360, 120],
  [1440, 300],
  [4320, 900],
  [10_080, 3600],
])('a window of %d minutes has buckets of %d seconds', (windowMinutes, seconds) => {
  expect(cutWindow(windowMinutes, Temporal.Instant.fromEpochMilliseconds(0)).stepMs).toBe(seconds * 1000);
});

test('at most 300 aligned buckets hold all of the window and nothing that is a step older', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_080 }),
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
      (minutes, nowMs) => {
        const { fromMs, toMs, stepMs } = cutWindow(minutes, Temporal.Instant.fromEpochMilliseconds(nowMs));
        const oldest = nowMs - minutes * 60_000;
        expect((toMs - fromMs) / stepMs).toBeLessThanOrEqual(300);
        expect([fromMs % stepMs, toMs % stepMs].map(Math.abs)).toEqual([0, 0]);
        expect(fromMs <= oldest && oldest - fromMs < stepMs).toBe(true);
        expect(nowMs < toMs && toMs - nowMs <= stepMs).toBe(true);
        expect(bucketStart(nowMs, stepMs)).toBe(toMs - stepMs);
      },
    ),
  );
});
