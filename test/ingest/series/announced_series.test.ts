import { expect, test } from 'vitest';

import { AnnouncedSeries } from '#ingest/series/announced_series.ts';
import type { Id } from '#kernel/ids.ts';

const SERVICE = 'service_a' as Id<'service'>;
const OTHER = 'service_b' as Id<'service'>;
const T0 = 1_795_258_360_000;

function tell(told: AnnouncedSeries, at: number, service = SERVICE): boolean {
  const telling = told.begin();
  const isDue = telling.isDue(service, 7n, at);
  telling.commit();
  return isDue;
}

test('a series is told when it is new to its service, and again after five minutes of its points', () => {
  const told = new AnnouncedSeries();
  expect([0, 15_000, 299_999, -60_000, 300_000, 301_000, 600_000].map((after) => tell(told, T0 + after))).toEqual([
    true,
    false,
    false,
    false,
    true,
    false,
    true,
  ]);
  expect(tell(told, T0, OTHER)).toBe(true);
});

test('series of a job that was not stored are announced again', () => {
  const told = new AnnouncedSeries();
  expect(told.begin().isDue(SERVICE, 7n, T0)).toBe(true);
  expect(tell(told, T0)).toBe(true);
  expect(tell(told, T0)).toBe(false);
});

test('a series of which there are only marks of its end is told once, and again with its first point', () => {
  const told = new AnnouncedSeries();
  expect([0, 0, T0, 0].map((at) => tell(told, at))).toEqual([true, false, true, false]);
});
