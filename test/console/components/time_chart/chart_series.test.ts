import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  type ChartSeries,
  stackColumns,
  summaryOf,
  toColumns,
  usualDistance,
  valueNear,
  yRangeOf,
} from '#console/components/time_chart/chart_series.ts';

const STEP = 60_000;

function seriesAt(...minutes: readonly number[]): ChartSeries {
  return { name: 'm', times: minutes.map((minute) => minute * STEP), values: minutes.map((minute) => minute + 0.5) };
}

describe('columns', () => {
  test('hold a gap where points are missing, and none where they come slowly', () => {
    const [times, values] = toColumns([seriesAt(0, 1, 2, 3, 8, 9, 10)], STEP);
    expect(times).toEqual([0, 60, 120, 180, 330, 480, 540, 600]);
    expect(values).toEqual([0.5, 1.5, 2.5, 3.5, null, 8.5, 9.5, 10.5]);
    const slow = seriesAt(0, 5, 10, 15, 20);
    expect(toColumns([slow], STEP)[1]).toEqual(slow.values);
  });

  test('do not take the two points of a pixel for their usual distance', () => {
    const pairs = Array.from({ length: 20 }, (_, pixel) => [pixel * 10, pixel * 10 + 1]).flat();
    expect(toColumns([seriesAt(...pairs)], STEP)[1]).not.toContain(null);
    const broken = pairs.filter((minute) => minute < 60 || minute > 130);
    expect(toColumns([seriesAt(...broken)], STEP)[1]!.filter((value) => value === null)).toHaveLength(1);
  });

  test('keep every value at its time, whatever series there are', () => {
    const anySeries = fc
      .uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 60 })
      .map((minutes) => ({
        name: 'm',
        times: minutes.sort((a, b) => a - b).map((minute) => minute * STEP),
        values: minutes.map((minute) => minute / 3),
      }));
    fc.assert(
      fc.property(fc.array(anySeries, { maxLength: 4 }), (all) => {
        const [times, ...columns] = toColumns(all, STEP);
        expect(times.toSorted((a, b) => a - b)).toEqual(times);
        expect(new Set(times).size).toBe(times.length);
        for (const [index, { times: own, values }] of all.entries()) {
          const points = times.flatMap((at, row) => {
            const value = columns[index]![row];
            return value === null || value === undefined ? [] : [[Math.round(at * 1_000), value]];
          });
          expect(points).toEqual(own.map((at, row) => [at, values[row]]));
        }
      }),
    );
  });
});

test('the usual distance is never below a step', () => {
  expect(usualDistance([], STEP)).toBe(STEP);
  expect(usualDistance([0, 1, 2, 3], STEP)).toBe(STEP);
  expect(usualDistance([0, 5 * STEP, 10 * STEP], STEP)).toBe(5 * STEP);
});

describe('the axis of values', () => {
  test('always holds the data, the threshold, and zero where that is near', () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(value, value, fc.option(value), (a, b, threshold) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const [min, max] = yRangeOf(low, high, threshold);
        expect(min).toBeLessThan(max);
        for (const inside of [low, high, threshold ?? low]) {
          expect(inside).toBeGreaterThanOrEqual(min);
          expect(inside).toBeLessThanOrEqual(max);
        }
      }),
    );
    expect(yRangeOf(20, 80, null)[0]).toBe(0);
    expect(yRangeOf(980, 990, null)[0]).toBeGreaterThan(900);
    expect(yRangeOf(null, null, null)).toEqual([0, 1]);
  });
});

test('the value near a time is that of the nearest point, if it is near enough', () => {
  const series = seriesAt(0, 1, 2, 10);
  expect(valueNear(series, 1.4 * STEP, STEP)).toEqual({ at: STEP, value: 1.5 });
  expect(valueNear(series, 6 * STEP, STEP)).toBeNull();
  expect(valueNear(series, 99 * STEP, 100 * STEP)).toEqual({ at: 10 * STEP, value: 10.5 });
  expect(valueNear(seriesAt(), 0, STEP)).toBeNull();
});

test('a summary says each series, its extremes, its last value and the threshold', () => {
  const text = (value: number) => `${value} ms`;
  expect(summaryOf([seriesAt(0, 4, 2)], text, '> 5 ms')).toBe(
    'm: 3 points, from 0.5 ms to 4.5 ms, last 2.5 ms; threshold > 5 ms.',
  );
  expect(summaryOf([seriesAt()], text)).toBe('No points in this period.');
  const many = Array.from({ length: 8 }, () => seriesAt(1));
  expect(summaryOf(many, text)).toMatch(/; 3 more series\.$/);
});

test('areas stand on those before them, and a gap carries nothing', () => {
  const columns = [
    [1, 2, 3],
    [1, null, 3],
    [10, 20, undefined],
  ] as const;
  expect(stackColumns([[...columns[0]], [...columns[1]], [...columns[2]]])).toEqual([
    [1, 2, 3],
    [1, null, 3],
    [11, 20, undefined],
  ]);
});
