import { expect, test } from 'vitest';

import { inFairTurns } from '#modules/rules/decide/fair_turns.ts';
import fc from '#test/kit/properties.ts';

const waitsForLong = (item: number): boolean => item >= 100;

test('few items are all chosen, in their order', () => {
  expect(inFairTurns([150, 3, 120], waitsForLong, { most: 3, turn: 0.9 })).toEqual([150, 3, 120]);
});

test('what has not waited yet comes before what waits for long, of which each has its turn', () => {
  const items = Array.from({ length: 300 }, (_, item) => item);
  const chosen = [0, 0.25, 0.5, 0.75].map((turn) => inFairTurns(items, waitsForLong, { most: 160, turn }));
  for (const some of chosen) expect(some.slice(0, 100)).toEqual(items.slice(0, 100));
  expect(new Set(chosen.flat()).size).toBe(300);
});

test('no more are chosen than may be, and none twice', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(200)),
      fc.nat(50),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (items, most, turn) => {
        const chosen = inFairTurns(items, waitsForLong, { most, turn });
        expect(new Set(chosen).size).toBe(Math.min(most, items.length));
      },
    ),
  );
});
