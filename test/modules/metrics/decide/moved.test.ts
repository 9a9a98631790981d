import { expect, test } from 'vitest';

import { findMove } from '#modules/metrics/decide/moved.ts';
import fc from '#test/kit/properties.ts';

const AT = Date.UTC(2027, 1, 3, 2, 0);
const MINUTE = 60_000;

/** A value a minute, from 75 minutes before to 10 after. */
const pointsOf = (value: (minute: number) => number) =>
  Array.from({ length: 85 }, (_, index) => ({ atMs: AT + (index - 75) * MINUTE, value: value(index - 75) }));

test('a metric that jumps at the instant has moved, from its mean to what it is around it', () => {
  const move = findMove(
    pointsOf((minute) => (minute < -1 ? 100 + (minute % 2) : 900)),
    AT,
  );
  expect(move?.before).toBeCloseTo(99.5, 0);
  expect(move?.after).toBe(900);
});

test('noise is no move, nor is what hardly varies, nor what is not known', () => {
  expect(
    findMove(
      pointsOf((minute) => 100 + (minute % 7)),
      AT,
    ),
  ).toBeNull();
  expect(
    findMove(
      pointsOf((minute) => (minute < -5 ? 100 : 102)),
      AT,
    ),
  ).toBeNull();
  expect(
    findMove(
      pointsOf(() => 5),
      AT,
    ),
  ).toBeNull();
  expect(findMove(pointsOf(() => 5).slice(-20), AT)).toBeNull();
  expect(findMove([], AT)).toBeNull();
});

test('never moves within the spread of the hour before, whatever the values', () => {
  const values = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 85, maxLength: 85 });
  fc.assert(
    fc.property(values, (all) => {
      const usual = all.slice(0, 60);
      const move = findMove(
        pointsOf((minute) => all[minute + 75]!),
        AT,
      );
      if (move === null) return;
      expect(Number.isFinite(move.before)).toBe(true);
      expect(move.after < Math.min(...usual) || move.after > Math.max(...usual) || move.score >= 3).toBe(true);
    }),
  );
});
