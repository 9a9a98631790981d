import { expect, test } from 'vitest';

import { SECOND, sender } from '#test/ingest/counter_sender.ts';
import { NOW_MS } from '#test/ingest/metric_bytes.ts';

const NO_START = 0;

/** Sends the counts of three buckets of a native histogram, export after export, and returns what each grew by. */
function growthsOf(...exports: readonly (readonly number[])[]): number[] {
  const { bounded, grown } = sender();
  for (const [place, counts] of exports.entries()) {
    bounded(NO_START, NOW_MS - (100 - place * 10) * SECOND, [[1, 2], counts]);
  }
  const ranges = ['0...1', '1...2', '2...Infinity'];
  return [grown('pay_count'), ...ranges.map((range) => grown(`pay_bucket {"vmrange":"${range}"}`))];
}

// As `DetectReset` of Prometheus has it, but for small falls.
test.each([
  ['rises', [55, 10, 45, 0], [[10, 45, 0]]],
  ['falls by less than an eighth', [49, 10, 39, 0], [[10, 39, 0]]],
  [
    'holds nothing at first',
    [55, 10, 45, 0],
    [
      [9, 0, 0],
      [10, 45, 0],
    ],
  ],
  ['is as it was', [50, 10, 40, 0], [[10, 40, 0]]],
])('a restart without a start resets the whole histogram, also a bucket that %s', (_when, expected, after) => {
  expect(growthsOf([100_000, 40, 0], ...after)).toEqual(expected);
});

test('a restart after which more was observed than before it resets the buckets', () => {
  expect(growthsOf([100, 40, 0], [10, 150, 0]).slice(1)).toEqual([10, 150, 0]);
});

test('a small fall, as of two senders of one histogram, is no reset', () => {
  expect(growthsOf([1000, 40, 0], [998, 40, 1], [1002, 41, 0], [1001, 41, 1], [1004, 41, 1])).toEqual([6, 4, 1, 1]);
});

test('a native histogram that ended and goes on has not begun anew', () => {
  const { bounded, ended, grown } = sender();
  bounded(NO_START, NOW_MS - 30 * SECOND, [
    [1, 2],
    [1000, 40, 0],
  ]);
  ended(NOW_MS - 20 * SECOND);
  bounded(NO_START, NOW_MS - 10 * SECOND, [
    [1, 2],
    [1002, 41, 0],
  ]);
  expect([grown('pay_count'), grown('pay_bucket')]).toEqual([3, 3]);
});
