import { expect, test } from 'vitest';

import { pixelsWithin } from '#console/components/pixels_within.ts';
import { CHART_PIXELS_MAX } from '#modules/metrics/decide/limits.ts';

test('a chart is asked for at most as many pixels as its lines have beside their axis', () => {
  expect([358, 420, 1_010, 100_000].map(pixelsWithin)).toEqual([200, 300, 800, CHART_PIXELS_MAX]);
});

test('a chart asks for the same while its window is resized a little, and for some pixels in a tiny one', () => {
  expect(new Set([1_020, 1_050, 1_119].map(pixelsWithin)).size).toBe(1);
  expect(pixelsWithin(0)).toBe(100);
});
