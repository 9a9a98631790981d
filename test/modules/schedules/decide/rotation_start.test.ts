import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { layerOfRotation, type Rotation } from '#modules/schedules/decide/rotation.ts';
import * as layerStart from '#modules/schedules/decide/rotation.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { onCallOfSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import {
  ANNA,
  anyRotation,
  at,
  BRAM,
  CHLOE,
  everybody,
  rotationOf,
  scheduleOf,
  turnAt,
} from '#test/modules/schedules/decide/given_rotation.ts';

const nextHandOver = (rotation: Rotation, now: Temporal.Instant) =>
  layerStart.nextHandOver(layerOfRotation(rotation), new ZoneClock(rotation.timezone), now);

const startForHandOver = (
  rotation: Rotation,
  handOver: layerStart.HandOver,
  notAfter: Temporal.Instant | null,
): Temporal.Instant | null =>
  layerStart.startForHandOver(layerOfRotation(rotation), new ZoneClock(rotation.timezone), handOver, notAfter);

const weekly = rotationOf({ rotationType: 'weekly' });

describe('the next hand-over', () => {
  test('is the start of the next turn, with the place of the person in the list', () => {
    expect(nextHandOver(weekly, at('2026-01-06T12:00[Europe/Amsterdam]'))).toEqual({
      at: at('2026-01-12T09:00[Europe/Amsterdam]'),
      position: 1,
    });
  });

  test('of a rotation that has not begun is its beginning', () => {
    expect(nextHandOver(weekly, at('2025-12-01T00:00:00Z'))).toEqual({ at: weekly.startAt, position: 0 });
  });

  test('passes over one whose time the clock skips', () => {
    const rotation = rotationOf({
      timezone: 'America/Sao_Paulo',
      shiftHours: 4,
      startAt: at('2004-11-01T16:45[America/Sao_Paulo]'),
    });
    expect(nextHandOver(rotation, at('2004-11-01T22:00[America/Sao_Paulo]'))).toEqual({
      at: at('2004-11-02T04:45[America/Sao_Paulo]'),
      position: 0,
    });
  });

  test('does not exist without people', () => {
    expect(nextHandOver({ ...weekly, userIds: [] }, weekly.startAt)).toBeNull();
  });
});

describe('a rotation that is counted from a hand-over', () => {
  test('hands over then to that person, and goes back by whole rounds to where it began', () => {
    const handOver = { at: at('2026-03-30T10:30[Europe/Amsterdam]'), position: 2 };
    const startAt = startForHandOver(weekly, handOver, weekly.startAt)!;
    const moved = { ...weekly, startAt };
    expect(startAt).toEqual(at('2025-12-22T10:30[Europe/Amsterdam]'));
    expect(turnAt(moved, handOver.at, everybody)).toMatchObject({ userId: CHLOE, since: handOver.at });
    expect(turnAt(moved, weekly.startAt, everybody)).not.toBeNull();
  });

  test('keeps who is on call until then when somebody is added at the end', () => {
    const now = at('2026-06-10T12:00:00Z');
    const userIds = [ANNA, BRAM, CHLOE, ANNA];
    const startAt = startForHandOver({ ...weekly, userIds }, nextHandOver(weekly, now)!, weekly.startAt)!;
    const before = onCallOfSchedule(scheduleOf(weekly), now, everybody);
    expect(onCallOfSchedule(scheduleOf({ ...weekly, userIds, startAt }), now, everybody)).toEqual(before);
  });

  test('begins no earlier than 1970, and is refused where that is not possible', () => {
    const handOver = { at: at('1970-02-02T09:00:00Z'), position: 2 };
    expect(startForHandOver({ ...weekly, timezone: 'UTC' }, handOver, null)).toEqual(at('1970-01-19T09:00:00Z'));
    expect(startForHandOver({ ...weekly, shiftHours: 1_000_000 }, handOver, null)).toBeNull();
    expect(startForHandOver({ ...weekly, shiftHours: Number.MAX_SAFE_INTEGER }, handOver, null)).toBeNull();
  });

  test('stays as it is when it is counted from its own next hand-over, in any zone', () => {
    fc.assert(
      fc.property(
        anyRotation,
        fc.integer({ min: 0, max: 400 * 24 }),
        fc.array(fc.integer({ min: 0, max: 90 * 24 })),
        (rotation, later, hours) => {
          const now = rotation.startAt.add({ hours: later });
          const handOver = nextHandOver(rotation, now);
          if (handOver === null) return;
          const startAt = startForHandOver(rotation, handOver, rotation.startAt);
          if (startAt === null) return;
          expect(isAtOrBefore(startAt, rotation.startAt)).toBe(true);
          for (const hour of hours) {
            const instant = handOver.at.add({ hours: hour });
            const moved = turnAt({ ...rotation, startAt }, instant, everybody);
            expect(moved?.userId).toBe(turnAt(rotation, instant, everybody)?.userId);
          }
          expect(Temporal.Instant.compare(nextHandOver({ ...rotation, startAt }, now)!.at, now)).toBe(1);
        },
      ),
      { numRuns: 150 },
    );
  });
});
