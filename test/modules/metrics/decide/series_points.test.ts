import { expect, test } from 'vitest';

import { AGGREGATIONS, COUNTER_LOOKBACK_MS } from '#modules/metrics/decide/aggregation.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { emptyWindow, type PointWindow, SeriesPoints, STAMPS_OF_MS } from '#modules/metrics/decide/series_points.ts';
import { aggregateOnce, inOrder, type Sample } from '#test/kit/metrics/aggregate_model.ts';
import fc from '#test/kit/properties.ts';

const MINUTE_MS = 60_000;
const TO_MS = 100 * MINUTE_MS;

const sample: fc.Arbitrary<Sample> = fc
  .record({
    at: fc.oneof(
      fc.integer({ min: 80, max: 102 }).map((minute) => minute * MINUTE_MS),
      fc.integer({ min: 80 * MINUTE_MS, max: 102 * MINUTE_MS }),
    ),
    value: fc.integer({ min: -20, max: 100 }),
    kind: fc.oneof(fc.constant('counter' as const), fc.constantFrom(...POINT_KINDS)),
  })
  // A series that ends has no value.
  .map((one) => ({ ...one, value: one.kind === 'stale' ? 0 : one.value }));
const series = fc.array(fc.array(sample, { maxLength: 30 }), { maxLength: 3 });

/** Returns the value of a window as rule_answers.ts reads it. */
function valueOf(window: PointWindow, aggregation: (typeof AGGREGATIONS)[number]): number | null {
  if (aggregation === 'last') return window.newest > 0 ? window.newestTotal : null;
  if (aggregation === 'sum') {
    return window.others > 0 || window.counterAtMs >= window.fromMs ? window.othersTotal + window.grown : null;
  }
  if (window.samples === 0) return null;
  const values = { count: window.samples, min: window.least, max: window.greatest, avg: window.total / window.samples };
  return values[aggregation];
}

/** Points of a series come in two readings, of which the second reads again what is younger than some time. */
function remembered(samples: readonly Sample[], readAgainMs: number, keptMs: number): SeriesPoints {
  const points = new SeriesPoints();
  const replace = (some: readonly Sample[], sinceMs: number): void => {
    const stamps = some.map(({ at, kind }) => at * STAMPS_OF_MS + POINT_KINDS.indexOf(kind));
    points.replaceSince(
      sinceMs,
      Float64Array.from(stamps),
      Float64Array.from(some, ({ value }) => value),
    );
  };
  const ordered = inOrder(samples);
  replace(
    ordered.filter((_, index) => index % 3 !== 0),
    0,
  );
  replace(
    ordered.filter(({ at }) => at >= readAgainMs),
    readAgainMs,
  );
  replace(ordered, 0);
  points.removeBefore(keptMs - COUNTER_LOOKBACK_MS);
  return points;
}

test('points in memory add up to what the reference says, in every window', () => {
  fc.assert(
    fc.property(
      series,
      fc.constantFrom(1, 5, 7, 15),
      fc.integer({ min: 0, max: 12 }),
      fc.integer({ min: 80, max: 101 }),
      (all, minutes, keptMinutes, readAgainMinute) => {
        const keptMs = keptMinutes === 0 ? 0 : TO_MS - keptMinutes * MINUTE_MS;
        const fromMs = Math.max(TO_MS - minutes * MINUTE_MS, keptMs);
        const window = emptyWindow({ fromMs, toMs: TO_MS, keptMs, withGrowth: true });
        for (const samples of all) remembered(samples, readAgainMinute * MINUTE_MS, fromMs).addTo(window);
        const kept = all.map((samples) => samples.filter(({ at }) => at >= keptMs));
        for (const aggregation of AGGREGATIONS) {
          expect(valueOf(window, aggregation), aggregation).toEqual(aggregateOnce(kept, aggregation, fromMs, TO_MS));
        }
      },
    ),
  );
});
