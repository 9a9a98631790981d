import { expect, test } from 'vitest';

import { spacingSeconds } from '#modules/metrics/decide/spacing.ts';

test.each([
  ['a sender that exports each minute, in steps of 15 s', [0, 4, 8, 13, 17, 21], 15, 60],
  ['the same, zoomed to steps of 5 s', [0, 12, 24, 37, 48, 60], 5, 60],
  ['a sender that exports every 10 s, in steps of a minute', [0, 1, 2, 3], 60, 60],
  ['one that exports at each step but for a pause', [0, 1, 2, 90, 91], 15, 15],
  ['a single point', [7], 15, 15],
  ['no points', [], 15, 15],
])('a sum is of the time between two points: %s', (_, steps, stepSeconds, seconds) => {
  expect(spacingSeconds(steps, stepSeconds)).toBe(seconds);
});
