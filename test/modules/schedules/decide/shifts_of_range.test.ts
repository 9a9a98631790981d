import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';
import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import { onCallThroughout } from '#modules/schedules/decide/swap.ts';
import { asId } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';
import { finalShiftsBetween, onCallOfSchedule, type Shift } from '#modules/schedules/decide/layered_shifts.ts';
import {
  ANNA,
  anyPresence,
  anyRotation,
  BRAM,
  CHLOE,
  DIRK,
  nextChange,
  scheduleOf,
} from '#test/modules/schedules/decide/given_rotation.ts';

type Instant = Temporal.Instant;

const MINUTES_OF_RANGE = 63 * 24 * 60;
const SHIFTS_MAX = 10_000;

interface Window {
  readonly from: number;
  readonly length: number;
  readonly userId: Override['userId'];
}

const anyWindow: fc.Arbitrary<Window> = fc.record({
  from: fc.integer({ min: -3 * 24 * 60, max: MINUTES_OF_RANGE }),
  length: fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 20 * 24 * 60 })),
  userId: fc.constantFrom(ANNA, BRAM, CHLOE, DIRK),
});

/** A rotation, overrides, who is still there, and a range near where the clocks change or where the rotation begins. */
const anyPlan = anyRotation.chain((rotation) =>
  fc.record({
    rotation: fc.constant(rotation),
    windows: fc.array(anyWindow, { maxLength: 8 }),
    isPresent: anyPresence,
    from: fc
      .tuple(fc.boolean(), fc.integer({ min: -40 * 24 * 60, max: 24 * 60 }))
      .map(([isNearChange, minutes]) =>
        (isNearChange ? nextChange(rotation.timezone, rotation.startAt) : rotation.startAt).add({ minutes }),
      ),
    minutes: fc.array(fc.integer({ min: 0, max: MINUTES_OF_RANGE - 1 }), { minLength: 50, maxLength: 50 }),
  }),
);

function overridesOf(windows: readonly Window[], from: Instant): Override[] {
  return windows.map((window, index) => ({
    overrideId: asId('override', `override_${String(index).padStart(4, '0')}`),
    userId: window.userId,
    startAt: from.add({ minutes: window.from }),
    endAt: from.add({ minutes: window.from + window.length }),
    createdAt: from,
  }));
}

function shiftAt(shifts: readonly Shift[], at: Instant): Shift | null {
  return (
    shifts.find(({ since, until }) => isAtOrBefore(since, at) && (until === null || !isAtOrBefore(until, at))) ?? null
  );
}

const shown = (shift: Shift | null) =>
  shift && [
    shift.userIds.join(' '),
    shift.source,
    shift.since.toString(),
    shift.until === null ? null : shift.until.toString(),
  ];

describe('the shifts of a range', () => {
  test('say at each of many instants what who_is_on_call decides there', () => {
    let asked = 0;
    fc.assert(
      fc.property(anyPlan, ({ rotation, windows, isPresent, from, minutes }) => {
        const overrides = overridesOf(windows, from);
        const to = from.add({ minutes: MINUTES_OF_RANGE });
        const shifts = finalShiftsBetween(scheduleOf(rotation, overrides), from, to, isPresent, SHIFTS_MAX);
        const edges = shifts.slice(0, 20).flatMap(({ since }) => [since, since.subtract({ milliseconds: 1 })]);
        const instants = [...minutes.map((minute) => from.add({ minutes: minute })), ...edges];
        for (const at of instants.filter((instant) => isAtOrBefore(from, instant) && !isAtOrBefore(to, instant))) {
          asked += 1;
          const decided = onCallOfSchedule(scheduleOf(rotation, overrides), at, isPresent).shift;
          expect(shown(shiftAt(shifts, at)), at.toString()).toEqual(shown(decided));
        }
      }),
      { numRuns: slowRuns(200) },
    );
    expect(asked).toBeGreaterThanOrEqual(500);
  });
});

describe('what changes hands', () => {
  const onCall = (rotation: Rotation, overrides: readonly Override[], at: Instant) =>
    onCallOfSchedule(scheduleOf(rotation, overrides), at, () => true).shift?.userIds[0] ?? null;

  test('is every time in which somebody else is on call than before, and no other', () => {
    fc.assert(
      fc.property(anyPlan, anyRotation, ({ rotation, windows, from, minutes }, other) => {
        const overrides = overridesOf(windows, from);
        const to = from.add({ minutes: MINUTES_OF_RANGE });
        const after = { ...other, startAt: rotation.startAt };
        const shiftsOf = (of: Rotation) =>
          finalShiftsBetween(scheduleOf(of, overrides), from, to, () => true, SHIFTS_MAX);
        const changes = changedShifts(shiftsOf(rotation), shiftsOf(after), from, to);
        for (const minute of minutes) {
          const at = from.add({ minutes: minute });
          const change = changes.find(({ since, until }) => isAtOrBefore(since, at) && !isAtOrBefore(until, at));
          const [was, is] = [onCall(rotation, overrides, at), onCall(after, overrides, at)];
          expect(change === undefined ? null : [change.before[0] ?? null, change.after[0] ?? null]).toEqual(
            was === is ? null : [was, is],
          );
        }
        for (const [index, { since, until }] of changes.entries()) {
          expect(Temporal.Instant.compare(since, until)).toBe(-1);
          expect(isAtOrBefore(changes[index - 1]?.until ?? from, since)).toBe(true);
        }
      }),
      { numRuns: slowRuns(400) },
    );
  });

  test('is nothing when the plan stays', () => {
    fc.assert(
      fc.property(anyPlan, ({ rotation, windows, isPresent, from }) => {
        const to = from.add({ minutes: MINUTES_OF_RANGE });
        const shifts = finalShiftsBetween(
          scheduleOf(rotation, overridesOf(windows, from)),
          from,
          to,
          isPresent,
          SHIFTS_MAX,
        );
        expect(changedShifts(shifts, shifts, from, to)).toEqual([]);
      }),
      { numRuns: slowRuns(200) },
    );
  });
});

test('somebody is on call throughout a time when they are at each of its minutes', () => {
  fc.assert(
    fc.property(anyPlan, anyWindow, ({ rotation, windows, isPresent, from }, { from: first, length, userId }) => {
      const overrides = overridesOf(windows, from);
      const [startAt, minutes] = [from.add({ minutes: first }), Math.min(length, 300)];
      const endAt = startAt.add({ minutes });
      const shifts = finalShiftsBetween(scheduleOf(rotation, overrides), startAt, endAt, isPresent, SHIFTS_MAX);
      const isAlways = Array.from({ length: minutes }, (_, minute) => startAt.add({ minutes: minute })).every(
        (at) => shiftAt(shifts, at)?.userIds[0] === userId,
      );
      expect(onCallThroughout(shifts, { userId, startAt, endAt })).toBe(isAlways ? 'alone' : 'no');
    }),
    { numRuns: slowRuns(600) },
  );
});
