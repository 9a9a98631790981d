import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { nextRetryDelayMs } from '#modules/notifications/decide/retry.ts';

test('the wait doubles from a second to half a minute, shortened by up to half', () => {
  const longest = [1, 2, 3, 4, 5, 6, 7, 20].map((tries) => nextRetryDelayMs(tries, 0, 0));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(nextRetryDelayMs(3, 0, 0.5)).toBe(3_000);
  expect(nextRetryDelayMs(3, 0, 1 - Number.EPSILON)).toBe(2_000);
});

test('no try starts more than five minutes after the first', () => {
  expect(nextRetryDelayMs(1, 299_000, 0)).toBe(1_000);
  expect(nextRetryDelayMs(1, 299_001, 0)).toBeNull();
  expect(nextRetryDelayMs(9, 400_000, 0)).toBeNull();
});

test('a clock that is set back does not make it go on for longer', () => {
  const HOUR_AGO = -3_600_000;
  expect(nextRetryDelayMs(1, HOUR_AGO, 0)).toBe(1_000);
  expect(nextRetryDelayMs(10, HOUR_AGO, 0)).toBe(30_000);
  expect(nextRetryDelayMs(26, HOUR_AGO, 0)).toBeNull();
  expect(nextRetryDelayMs(Number.MAX_SAFE_INTEGER, HOUR_AGO, 0)).toBeNull();
});

test('the provider may ask for a longer wait, within the five minutes', () => {
  expect(nextRetryDelayMs(1, 0, 0, 45_000)).toBe(45_000);
  expect(nextRetryDelayMs(6, 0, 0, 100)).toBe(30_000);
  expect(nextRetryDelayMs(1, 270_000, 0, 45_000)).toBeNull();
});

test('whatever chance does, retrying ends within five minutes and takes between 10 and 30 tries', () => {
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.infiniteStream(chance), (chances) => {
      let elapsedMs = 0;
      let tries = 1;
      for (const random of chances) {
        const delayMs = nextRetryDelayMs(tries, elapsedMs, random);
        if (delayMs === null) break;
        elapsedMs += delayMs;
        tries += 1;
      }
      expect(elapsedMs).toBeLessThanOrEqual(300_000);
      expect(tries).toBeGreaterThanOrEqual(10);
      expect(tries).toBeLessThanOrEqual(30);
    }),
  );
});
