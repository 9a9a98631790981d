import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { excessOf, LEARNT_HOURS, limitOf, usualLimit } from '#modules/exceptions/decide/spike.ts';

const hours = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 24, maxLength: LEARNT_HOURS });

test('a day has to be known, and usual traffic always fits', () => {
  expect(usualLimit(Array.from({ length: 23 }, () => 1_000))).toBe(null);
  fc.assert(
    fc.property(hours, (counts) => {
      const limit = usualLimit(counts)!;
      expect(limit).toBeGreaterThanOrEqual(500);
      const fitting = counts.filter((events) => events * 5 <= limit || events <= 500).length;
      expect(fitting).toBeGreaterThanOrEqual(counts.length * 0.95);
    }),
  );
});

test('one hour of a spike in a day changes nothing, a longer one less than it is high; more traffic never lowers the limit', () => {
  fc.assert(
    fc.property(hours, fc.nat(), fc.integer({ min: 0, max: 1_000_000 }), (counts, place, more) => {
      const raised = counts.with(place % counts.length, counts[place % counts.length]! + more);
      expect(usualLimit(raised)!).toBeGreaterThanOrEqual(usualLimit(counts)!);
    }),
  );
  const quiet = Array.from({ length: 48 }, () => 200);
  expect(usualLimit(quiet)).toBe(1_000);
  expect(usualLimit(quiet.with(7, 1_000_000))).toBe(1_000);
  expect(usualLimit(quiet.fill(50_000, 24))).toBe(250_000);
});

test('what is older than a week is forgotten, and a quiet service keeps some events all the same', () => {
  const old = Array.from({ length: 100 }, () => 1_000_000);
  const lately = Array.from({ length: LEARNT_HOURS }, () => 0);
  expect(usualLimit([...old, ...lately])).toBe(500);
});

test('only known events are left out, only beyond the limit, and never more than came beyond it', () => {
  fc.assert(
    fc.property(
      fc.nat(5_000),
      fc.nat(5_000),
      fc.nat(5_000),
      fc.integer({ min: 1, max: 5_000 }),
      (usual, fresh, before, limit) => {
        const total = before + usual + fresh;
        const left = excessOf(usual, total, limit);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left).toBeLessThanOrEqual(usual);
        expect(total <= limit ? left : 0).toBe(0);
        // Batch by batch as many are left out as at once.
        const half = Math.floor(usual / 2);
        const first = excessOf(half, before + half, limit);
        const atOnce = excessOf(usual, before + usual, limit);
        expect(first + excessOf(usual - half, before + usual, limit)).toBe(atOnce);
      },
    ),
  );
});

test('the lower of two limits counts, a learnt one only while it is wanted', () => {
  expect(limitOf({ eventsPerHour: null, learnsSpikes: false, learntPerHour: 10 })).toBe(null);
  expect(limitOf({ eventsPerHour: null, learnsSpikes: true, learntPerHour: 10 })).toBe(10);
  expect(limitOf({ eventsPerHour: 5, learnsSpikes: true, learntPerHour: 10 })).toBe(5);
  expect(limitOf({ eventsPerHour: 5, learnsSpikes: true, learntPerHour: null })).toBe(5);
});
