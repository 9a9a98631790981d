import { expect, test } from 'vitest';

import { AnnouncedSeries, SeriesTimes } from '#ingest/series/announced_series.ts';
import type { Id } from '#kernel/ids.ts';
import fc from '#test/kit/properties.ts';

const SERVICE = 'service_a' as Id<'service'>;
const OTHER = 'service_b' as Id<'service'>;
const T0 = 1_795_258_360_000;

function tell(announced: AnnouncedSeries, at: number, service = SERVICE): boolean {
  const telling = announced.begin();
  const isDue = telling.isDue(service, 7n, at);
  telling.commit();
  return isDue;
}

test('a series is told when it is new to its service, and again after five minutes of its points', () => {
  const announcedSeries = new AnnouncedSeries();
  expect(
    [0, 15_000, 299_999, -60_000, 300_000, 301_000, 600_000].map((after) => tell(announcedSeries, T0 + after)),
  ).toEqual([true, false, false, false, true, false, true]);
  expect(tell(announcedSeries, T0, OTHER)).toBe(true);
});

test('series of a job that was not stored are announced again', () => {
  const announcedSeries = new AnnouncedSeries();
  expect(announcedSeries.begin().isDue(SERVICE, 7n, T0)).toBe(true);
  expect(tell(announcedSeries, T0)).toBe(true);
  expect(tell(announcedSeries, T0)).toBe(false);
});

test('a series of which there are only marks of its end is told once, and again with its first point', () => {
  const announcedSeries = new AnnouncedSeries();
  expect([0, 0, T0, 0].map((at) => tell(announcedSeries, at))).toEqual([true, false, true, false]);
});

test('says of every key what was set last, as a map does', () => {
  const key = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(0n, 1n, 2n ** 32n, 2n ** 64n - 1n));
  const time = fc.oneof(fc.integer(), fc.constant(-Infinity));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, time), { maxLength: 400 }), (entries) => {
      const times = new SeriesTimes();
      const meant = new Map(entries);
      for (const [one, at] of entries) times.set(one, at);
      expect(times.size).toBe(meant.size);
      for (const [one, at] of meant) expect(times.get(one)).toBe(at);
      for (const [one, at] of [...meant].toReversed()) expect(times.get(one)).toBe(at);
      for (const [one] of entries) expect(times.get(one)).toBe(meant.get(one));
      expect(times.get(4_711n)).toBe(meant.get(4_711n) ?? Number.NaN);
    }),
  );
});
