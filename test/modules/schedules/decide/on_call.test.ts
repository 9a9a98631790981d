import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { type Override, overrideAt, overrideLayer } from '#modules/schedules/decide/overrides.ts';
import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import { asId } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import {
  finalShifts,
  finalShiftsBetween,
  gapsBetween,
  onCallOfSchedule,
  peopleOnCall,
  type Shift,
} from '#modules/schedules/decide/layered_shifts.ts';
import {
  aloneIn,
  ANNA,
  anyPresence,
  at,
  BRAM,
  CHLOE,
  DIRK,
  everybody,
  presentBut,
  rotationOf,
  scheduleOf,
  turnAt,
} from '#test/modules/schedules/decide/given_rotation.ts';

type Instant = Temporal.Instant;

const utc = (changes: Partial<Rotation> = {}): Rotation =>
  rotationOf({ timezone: 'UTC', startAt: at('2026-01-05T09:00:00Z'), ...changes });

const START = utc().startAt;

const hour = (hours: number): Instant => START.add({ minutes: hours * 60 });

let made = 0;

/** Hours are counted from the start of the rotation; overrides are created in the order of the calls. */
function override(
  userId: Override['userId'],
  startHour: number,
  endHour: number,
  createdAt = at('2026-01-01T00:00:00Z'),
): Override {
  made += 1;
  const overrideId = asId('override', `override_${String(made).padStart(9, '0')}`);
  return { overrideId, userId, startAt: hour(startHour), endAt: hour(endHour), createdAt };
}

const inHours = (shift: { userId?: string; source?: string; since: Instant; until: Instant | null }) => [
  shift.userId,
  shift.source,
  START.until(shift.since).total('hours'),
  shift.until === null ? 'forever' : START.until(shift.until).total('hours'),
];

describe('the person on call', () => {
  const now = (hours: number, overrides: Override[] = [], rotation = utc(), isPresent: IsPresent = everybody) => {
    const { shift, next } = onCallOfSchedule(scheduleOf(rotation, overrides), hour(hours), isPresent);
    return {
      shift: shift && inHours(aloneIn(shift)),
      next: next && [...next.userIds, START.until(next.at).total('hours')],
    };
  };

  test('the rotation decides where no override is', () => {
    expect(now(30)).toEqual({ shift: [BRAM, 'rotation', 24, 48], next: [CHLOE, 48] });
  });

  test('an override replaces the person on call during its half-open window', () => {
    const overrides = [override(DIRK, 28, 32)];
    expect(now(27, overrides)).toEqual({ shift: [BRAM, 'rotation', 24, 28], next: [DIRK, 28] });
    expect(now(28, overrides)).toEqual({ shift: [DIRK, 'override', 28, 32], next: [BRAM, 32] });
    expect(now(31.5, overrides).shift).toEqual([DIRK, 'override', 28, 32]);
    expect(now(32, overrides)).toEqual({ shift: [BRAM, 'rotation', 32, 48], next: [CHLOE, 48] });
  });

  test('where overrides overlap, the one created last wins', () => {
    const overrides = [override(DIRK, 2, 10), override(CHLOE, 4, 6), override(BRAM, 5, 8)];
    expect([1, 3, 4.5, 5.5, 7, 9, 11].map((hours) => now(hours, overrides).shift?.[0])).toEqual([
      ANNA,
      DIRK,
      CHLOE,
      BRAM,
      BRAM,
      DIRK,
      ANNA,
    ]);
    expect(now(5.5, overrides.toReversed()).shift).toEqual([BRAM, 'override', 5, 8]);
  });

  test('the time of creation counts before the id', () => {
    const later = override(CHLOE, 0, 4, at('2026-01-03T00:00:00Z'));
    const earlier = override(DIRK, 0, 4, at('2026-01-02T00:00:00Z'));
    expect(now(1, [later, earlier]).shift?.[0]).toBe(CHLOE);
  });

  test('adjoining overrides of one person are one shift', () => {
    const overrides = [override(DIRK, 2, 4), override(DIRK, 4, 6)];
    expect(now(3, overrides)).toEqual({ shift: [DIRK, 'override', 2, 6], next: [ANNA, 6] });
  });

  test('next is the next other person, when the same one goes on for another cause', () => {
    expect(now(22, [override(BRAM, 20, 24)])).toEqual({ shift: [BRAM, 'override', 20, 24], next: [CHLOE, 48] });
  });

  test('an override counts before the rotation has started, and a gap may follow it', () => {
    const overrides = [override(ANNA, -10, -5)];
    expect(now(-11, overrides)).toEqual({ shift: null, next: [ANNA, -10] });
    expect(now(-7, overrides)).toEqual({ shift: [ANNA, 'override', -10, -5], next: [ANNA, 0] });
    expect(now(-3, overrides)).toEqual({ shift: null, next: [ANNA, 0] });
  });

  test('an override by somebody who has left is passed over', () => {
    const overrides = [override(CHLOE, 2, 6), override(DIRK, 2, 6)];
    expect(now(3, overrides, utc(), presentBut([DIRK])).shift?.[0]).toBe(CHLOE);
    expect(now(3, overrides, utc(), presentBut([DIRK, CHLOE])).shift?.[0]).toBe(ANNA);
  });

  test('one person alone is on call without end, except where others stand in', () => {
    const alone = utc({ userIds: [ANNA] });
    expect(now(5, [], alone)).toEqual({ shift: [ANNA, 'rotation', 0, 'forever'], next: null });
    expect(now(5, [override(ANNA, 4, 6)], alone)).toEqual({ shift: [ANNA, 'override', 4, 6], next: null });
    expect(now(5, [override(BRAM, 8, 9)], alone)).toEqual({ shift: [ANNA, 'rotation', 0, 8], next: [BRAM, 8] });
    expect(now(9, [override(BRAM, 8, 9)], alone)).toEqual({ shift: [ANNA, 'rotation', 9, 'forever'], next: null });
  });

  test('is nobody when the schedule lists nobody, but for an override', () => {
    expect(now(5, [], utc({ userIds: [] }))).toEqual({ shift: null, next: null });
    expect(now(5, [override(DIRK, 4, 6)], utc({ userIds: [] }))).toEqual({
      shift: [DIRK, 'override', 4, 6],
      next: null,
    });
  });

  test('an empty window puts nobody on call', () => {
    expect(now(5, [override(DIRK, 5, 5), override(DIRK, 6, 4)]).shift?.[0]).toBe(ANNA);
  });

  test('a team has each person once, however many schedules name them', () => {
    const answer = (userIds: Rotation['userIds']) => onCallOfSchedule(scheduleOf(utc({ userIds })), hour(1), everybody);
    expect(peopleOnCall([answer([ANNA]), answer([BRAM]), answer([]), answer([ANNA])])).toEqual([ANNA, BRAM]);
  });
});

describe('the layers of a schedule', () => {
  const anyOverrides = fc
    .array(
      fc.record({
        userId: fc.constantFrom(ANNA, BRAM, CHLOE, DIRK),
        start: fc.integer({ min: -50, max: 200 }),
        hours: fc.integer({ min: 1, max: 60 }),
      }),
      { maxLength: 8 },
    )
    .map((windows) => windows.map(({ userId, start, hours }) => override(userId, start, start + hours)));
  const anyRotation = fc.record({
    userIds: fc.array(fc.constantFrom(ANNA, BRAM, CHLOE), { maxLength: 4 }),
    shiftHours: fc.constantFrom(null, 1, 7),
  });

  /** The obvious reference: the override created last that covers the instant, else the rotation. */
  function whoAt(rotation: Rotation, overrides: readonly Override[], moment: Instant, isPresent: IsPresent) {
    const covering = overrides.filter(
      (o) => isPresent(o.userId) && isAtOrBefore(o.startAt, moment) && !isAtOrBefore(o.endAt, moment),
    );
    const last = covering.toSorted((a, b) => (a.overrideId < b.overrideId ? -1 : 1)).at(-1);
    if (last) return { userId: last.userId, source: 'override' };
    const turn = turnAt(rotation, moment, isPresent);
    return turn && { userId: turn.userId, source: 'rotation' };
  }

  const whoIn = (shifts: readonly Shift[], moment: Instant) => {
    const matchingShifts = shifts.filter(
      (s) => isAtOrBefore(s.since, moment) && (!s.until || !isAtOrBefore(s.until, moment)),
    );
    expect(matchingShifts.length).toBeLessThan(2);
    return matchingShifts[0] ? { userId: aloneIn(matchingShifts[0]).userId, source: matchingShifts[0].source } : null;
  };

  test('the final layer names at every hour whom the obvious reference names, and the rest are the gaps', () => {
    fc.assert(
      fc.property(
        anyRotation,
        anyOverrides,
        anyPresence,
        fc.integer({ min: -60, max: 100 }),
        (changes, overrides, isPresent, first) => {
          const rotation = utc(changes);
          const [from, to] = [hour(first), hour(first + 72)];
          const shifts = finalShiftsBetween(scheduleOf(rotation, overrides), from, to, isPresent, 1_000);
          const gaps = gapsBetween(scheduleOf(rotation, overrides), from, to, isPresent, 1_000);
          for (let halfHour = 0; halfHour < 144; halfHour += 1) {
            const moment = from.add({ minutes: halfHour * 30 });
            const expected = whoAt(rotation, overrides, moment, isPresent);
            expect(whoIn(shifts, moment)).toEqual(expected);
            const isGap = gaps.some((gap) => isAtOrBefore(gap.since, moment) && !isAtOrBefore(gap.until, moment));
            expect(isGap).toBe(expected === null);
          }
        },
      ),
      { numRuns: slowRuns(200) },
    );
  });

  test('the answer for an instant is the shift of the final layer, and next is where somebody takes over', () => {
    fc.assert(
      fc.property(
        anyRotation,
        anyOverrides,
        anyPresence,
        fc.integer({ min: -120, max: 480 }),
        (changes, overrides, isPresent, half) => {
          const rotation = utc(changes);
          const now = START.add({ minutes: half * 30 });
          const { shift, next } = onCallOfSchedule(scheduleOf(rotation, overrides), now, isPresent);
          const [inEffect] = finalShiftsBetween(
            scheduleOf(rotation, overrides),
            now,
            now.add({ milliseconds: 1 }),
            isPresent,
            1,
          );
          expect(shift).toEqual(inEffect ?? null);
          const takesOver = next && whoAt(rotation, overrides, next.at, isPresent)?.userId;
          const before = next && whoAt(rotation, overrides, next.at.subtract({ nanoseconds: 1 }), isPresent)?.userId;
          expect(takesOver).toBe(next && next.userIds[0]);
          expect(next === null || takesOver !== before).toBe(true);
        },
      ),
      { numRuns: slowRuns(1_000) },
    );
  });

  test('the override layer is in order and disjoint, has its limits at overrides only, and says who counts at each', () => {
    fc.assert(
      fc.property(anyOverrides, anyPresence, (overrides, isPresent) => {
        const layer = overrideLayer(overrides, isPresent);
        const limits = new Set(overrides.flatMap((o) => [o.startAt.toString(), o.endAt.toString()]));
        for (const [index, covered] of layer.entries()) {
          const before = layer[index - 1];
          expect(isAtOrBefore(covered.until, covered.since)).toBe(false);
          expect(before === undefined || isAtOrBefore(before.until, covered.since)).toBe(true);
          expect(before?.userId === covered.userId && before.until.equals(covered.since)).toBe(false);
          expect(limits.has(covered.since.toString()) && limits.has(covered.until.toString())).toBe(true);
        }
        for (const limit of limits) {
          const at = Temporal.Instant.from(limit);
          const covering = layer.find(({ since, until }) => isAtOrBefore(since, at) && !isAtOrBefore(until, at));
          expect(overrideAt(overrides, null, at, isPresent)?.userId).toBe(covering?.userId);
        }
      }),
    );
  });

  test('shifts keep their true limits outside the range, and are no more than asked for', () => {
    const shifts = finalShiftsBetween(scheduleOf(utc(), [override(DIRK, 28, 32)]), hour(30), hour(50), everybody, 10);
    expect(shifts.map(aloneIn).map(inHours)).toEqual([
      [DIRK, 'override', 28, 32],
      [BRAM, 'rotation', 32, 48],
      [CHLOE, 'rotation', 48, 72],
    ]);
    expect(finalShiftsBetween(scheduleOf(utc()), hour(0), hour(10_000), everybody, 5)).toHaveLength(5);
    expect(
      [...finalShifts(scheduleOf(utc({ userIds: [ANNA] })), hour(-5), everybody)].map(aloneIn).map(inHours),
    ).toEqual([[ANNA, 'rotation', 0, 'forever']]);
  });

  test('gaps are cut at the limits of the range', () => {
    const overrides = [override(DIRK, -8, -6), override(DIRK, -3, 4)];
    const between = (from: number, to: number, rotation = utc()) =>
      gapsBetween(scheduleOf(rotation, overrides), hour(from), hour(to), everybody, 1_000).map((gap) =>
        inHours(gap).slice(2),
      );
    expect(between(-10, 50)).toEqual([
      [-10, -8],
      [-6, -3],
    ]);
    expect(between(-7, -4)).toEqual([[-6, -4]]);
    expect(between(10, 50)).toEqual([]);
    expect(between(-10, 10, utc({ userIds: [] }))).toEqual([
      [-10, -8],
      [-6, -3],
      [4, 10],
    ]);
  });
});

test('of thousands of overrides that overlap the one created last counts, which takes no time that grows with their square', () => {
  const count = 6_000;
  const nested = Array.from({ length: count }, (_, made) =>
    override(made % 2 === 0 ? ANNA : BRAM, made, 2 * count - made),
  );
  const layer = overrideLayer(nested, everybody);
  expect(layer).toHaveLength(2 * count - 1);
  expect(layer[count - 1]?.userId).toBe(BRAM);
});
