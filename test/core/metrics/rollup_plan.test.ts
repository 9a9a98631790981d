import { expect, test } from 'vitest';

import fc from '#test/kit/properties.ts';
import { DAY_MS, HOUR_MS, isOfWholeHours, planRollups, readPeriodOf, stretchesOf } from '#core/metrics/rollup_plan.ts';

const FIRST = Date.parse('2027-03-01T00:00:00Z');
const LENGTH_HOURS = 24 * 6;

const valid = fc.record({
  hours: fc.subarray(Array.from({ length: LENGTH_HOURS }, (_, hour) => FIRST + hour * HOUR_MS)),
  days: fc.subarray(Array.from({ length: LENGTH_HOURS / 24 }, (_, day) => FIRST + day * DAY_MS)),
});

test('each hour of a window is read from exactly one place, and from a rollup only where it is whole and valid', () => {
  fc.assert(
    fc.property(
      valid,
      fc.integer({ min: 0, max: LENGTH_HOURS - 1 }),
      fc.integer({ min: 1, max: LENGTH_HOURS }),
      fc.integer({ min: -DAY_MS, max: 4 * DAY_MS }),
      fc.constantFrom(HOUR_MS, DAY_MS),
      ({ hours, days }, from, length, kept, stepMs) => {
        const fromMs = FIRST + from * HOUR_MS;
        const period = readPeriodOf({ fromMs, toMs: fromMs + length * HOUR_MS, stepMs }, FIRST + kept);
        if (period.fromMs >= period.toMs) return;
        const plan = planRollups(period, stepMs, { hours, days });
        if (plan === null) return;
        const ofDays = plan.days.flatMap((day) => Array.from({ length: 24 }, (_, hour) => day + hour * HOUR_MS));
        const read = [...ofDays, ...plan.hours, ...plan.rawHours].toSorted((a, b) => a - b);
        const first = Math.floor(period.lookbackMs / HOUR_MS) * HOUR_MS;
        const meant = Array.from({ length: (period.toMs - first) / HOUR_MS }, (_, hour) => first + hour * HOUR_MS);
        expect(read).toEqual(meant);
        for (const hour of [...ofDays, ...plan.hours]) expect(hour).toBeGreaterThanOrEqual(period.fromMs);
        expect(plan.hours.every((hour) => hours.includes(hour))).toBe(true);
        expect(plan.days.every((day) => days.includes(day) && stepMs === DAY_MS)).toBe(true);
      },
    ),
  );
});

test('buckets of minutes, and a window without any rollup, are read from points', () => {
  expect(isOfWholeHours({ fromMs: FIRST, toMs: FIRST + HOUR_MS, stepMs: 60_000 })).toBe(false);
  expect(isOfWholeHours({ fromMs: FIRST, toMs: FIRST + DAY_MS, stepMs: HOUR_MS })).toBe(true);
  const period = { lookbackMs: FIRST, fromMs: FIRST, toMs: FIRST + DAY_MS };
  expect(planRollups(period, HOUR_MS, { hours: [FIRST - HOUR_MS], days: [FIRST] })).toBe(null);
});

test('hours in stretches are all hours and, as long as these are not too many, no others', () => {
  const many = fc.subarray(Array.from({ length: 60 }, (_, hour) => FIRST + hour * HOUR_MS));
  fc.assert(
    fc.property(many, fc.integer({ min: 1, max: 20 }), (hours, most) => {
      const stretches = stretchesOf(hours, most);
      const within = stretches.flatMap(({ fromMs, toMs }) =>
        Array.from({ length: (toMs - fromMs) / HOUR_MS }, (_, place) => fromMs + place * HOUR_MS),
      );
      expect(within).toEqual([...new Set(within)].toSorted((a, b) => a - b));
      expect(new Set(within).isSupersetOf(new Set(hours))).toBe(true);
      const apart = hours.filter((hour) => !hours.includes(hour - HOUR_MS)).length;
      expect(stretches).toHaveLength(Math.min(apart, most));
      expect(within.length === hours.length).toBe(apart <= most);
    }),
  );
});
