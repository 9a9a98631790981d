import { expect, test } from 'vitest';

import fc from '#test/kit/properties.ts';
import {
  DAY_MS,
  HOUR_MS,
  isOfWholeHours,
  joinNearest,
  planRollups,
  readPeriodOf,
  startsIn,
  type Stretch,
} from '#modules/metrics/decide/rollup_plan.ts';

const FIRST = Date.parse('2027-03-01T00:00:00Z');
const LENGTH_HOURS = 24 * 6;

/** Joins hours into stretches as long as possible. */
function stretchesOf(starts: readonly number[], spanMs: number): Stretch[] {
  const froms = starts.filter((start) => !starts.includes(start - spanMs));
  const lasts = starts.filter((start) => !starts.includes(start + spanMs));
  return froms.map((fromMs, place) => ({ fromMs, toMs: lasts[place]! + spanMs }));
}

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
        const plan = planRollups(period, stepMs, {
          hours: stretchesOf(hours, HOUR_MS),
          days: stretchesOf(days, DAY_MS),
        });
        if (plan === null) return;
        const [ofDays, ofHours, raw] = [plan.days, plan.hours, plan.raw].map((part) => startsIn(part, HOUR_MS)) as [
          number[],
          number[],
          number[],
        ];
        for (const part of [plan.days, plan.hours, plan.raw]) {
          expect(part.map(({ fromMs }) => fromMs)).toEqual(part.map(({ fromMs }) => fromMs).toSorted((a, b) => a - b));
        }
        const read = [...ofDays, ...ofHours, ...raw].toSorted((a, b) => a - b);
        const first = Math.floor(period.lookbackMs / HOUR_MS) * HOUR_MS;
        const meant = Array.from({ length: (period.toMs - first) / HOUR_MS }, (_, hour) => first + hour * HOUR_MS);
        expect(read).toEqual(meant);
        for (const hour of [...ofDays, ...ofHours]) expect(hour).toBeGreaterThanOrEqual(period.fromMs);
        expect(ofHours.every((hour) => hours.includes(hour))).toBe(true);
        expect(startsIn(plan.days, DAY_MS).every((day) => days.includes(day) && stepMs === DAY_MS)).toBe(true);
        const isRolledUp = (hour: number): boolean =>
          hour >= period.fromMs && (hours.includes(hour) || (stepMs === DAY_MS && isInWholeDay(hour)));
        const isInWholeDay = (hour: number): boolean => {
          const day = hour - (hour % DAY_MS);
          return days.includes(day) && day >= period.fromMs && day + DAY_MS <= period.toMs;
        };
        expect(raw).toEqual(meant.filter((hour) => !isRolledUp(hour)));
      },
    ),
  );
});

test('buckets of minutes, and a window without any rollup, are read from points', () => {
  expect(isOfWholeHours({ fromMs: FIRST, toMs: FIRST + HOUR_MS, stepMs: 60_000 })).toBe(false);
  expect(isOfWholeHours({ fromMs: FIRST, toMs: FIRST + DAY_MS, stepMs: HOUR_MS })).toBe(true);
  const period = { reachMs: FIRST, lookbackMs: FIRST, fromMs: FIRST, toMs: FIRST + DAY_MS };
  const [hour, day] = [
    { fromMs: FIRST - HOUR_MS, toMs: FIRST },
    { fromMs: FIRST, toMs: FIRST + DAY_MS },
  ];
  expect(planRollups(period, HOUR_MS, { hours: [hour], days: [day] })).toBe(null);
});

test('stretches that are read together hold all hours and, as long as these are not too many, no others', () => {
  const many = fc.subarray(Array.from({ length: 60 }, (_, hour) => FIRST + hour * HOUR_MS));
  fc.assert(
    fc.property(many, fc.integer({ min: 1, max: 20 }), (hours, most) => {
      const apart = stretchesOf(hours, HOUR_MS);
      const stretches = joinNearest(apart, most);
      const within = startsIn(stretches, HOUR_MS);
      expect(within).toEqual([...new Set(within)].toSorted((a, b) => a - b));
      expect(new Set(within).isSupersetOf(new Set(hours))).toBe(true);
      expect(stretches).toHaveLength(Math.min(apart.length, most));
      expect(within.length === hours.length).toBe(apart.length <= most);
    }),
  );
});
