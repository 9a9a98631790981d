import fc, { slowRuns, sweep } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import { FAR_FUTURE, isAtOrBefore, Temporal } from '#kernel/time.ts';
import { parseScheduleTimes } from '#modules/schedules/decide/schedule_times.ts';
import {
  ANNA,
  anyPresence,
  anyRotation,
  at,
  BRAM,
  CHLOE,
  DIRK,
  everybody,
  nextChange,
  presentBut,
  rotationOf,
  type Turn,
  turnAt,
  turnsBetween,
  ZONES,
} from '#test/modules/schedules/decide/given_rotation.ts';
import { type Stretch, walkHandOvers, wallClocks } from '#test/modules/schedules/decide/rotation_reference.ts';

function turnHoursOf({ shiftHours, rotationType }: Rotation): number {
  if (shiftHours !== null && shiftHours >= 1) return shiftHours;
  return rotationType === 'daily' ? 24 : 168;
}

type Limits = { userId: string; since: string; until: string | undefined } | null;

/** The reference's answer, in the form of `limitsOf`. */
function limitsIn(stretches: readonly Stretch[], moment: Temporal.Instant): Limits {
  const stretch = stretches.find((s) => isAtOrBefore(s.since, moment) && !isAtOrBefore(s.until, moment));
  if (!stretch) return null;
  const until = stretches.length === 1 ? undefined : stretch.until.toString();
  return { userId: stretch.userId, since: stretch.since.toString(), until };
}

const limitsOf = (turn: Turn | null): Limits =>
  turn && { userId: turn.userId, since: turn.since.toString(), until: turn.until?.toString() };

describe('the rotation against a reference that walks from hand-over to hand-over', () => {
  const isShort = (rotation: Rotation): boolean => (rotation.shiftHours ?? 0) < 10_000;
  const cases = fc.tuple(anyRotation.filter(isShort), anyPresence, fc.integer({ min: 0, max: 1_000_000 }));

  test('names the same person with the same limits, at any instant and on both sides of each hand-over', () => {
    fc.assert(
      fc.property(cases, ([rotation, isPresent, millionths]) => {
        const hours = Math.min(turnHoursOf(rotation) * 300, 3 * 8766);
        const moment = rotation.startAt.add({ minutes: Math.floor((hours * 60 * millionths) / 1_000_000) });
        const since = turnAt(rotation, moment, isPresent)?.since ?? moment;
        const change = nextChange(rotation.timezone, rotation.startAt);
        const instants = [moment, since, since.subtract({ nanoseconds: 1 })];
        for (let halfHour = -6; halfHour <= 6; halfHour += 1) {
          instants.push(rotation.startAt.add({ minutes: 30 * halfHour }));
          if (isAtOrBefore(change, rotation.startAt.add({ hours })))
            instants.push(change.add({ minutes: 30 * halfHour }));
        }
        const stretches = walkHandOvers(rotation, instants.toSorted(Temporal.Instant.compare).at(-1)!, isPresent);
        for (const instant of instants) {
          expect(limitsOf(turnAt(rotation, instant, isPresent))).toEqual(limitsIn(stretches, instant));
        }
      }),
      { numRuns: slowRuns(1_000, 60) },
    );
  });

  test('tiles time: each turn begins where the one before ends, and no two in a row are of one person', () => {
    fc.assert(
      fc.property(anyRotation, anyPresence, fc.integer({ min: -100, max: 3000 }), (rotation, isPresent, hours) => {
        const from = rotation.startAt.add({ hours });
        const to = from.add({ hours: 200 });
        const turns = turnsBetween(rotation, from, to, isPresent, 1000);
        expect(turns.length > 0).toBe(rotation.userIds.some(isPresent) && !isAtOrBefore(to, rotation.startAt));
        for (const [index, turn] of turns.entries()) {
          const until = turn.until ?? FAR_FUTURE;
          const next = turns[index + 1];
          expect(isAtOrBefore(until, turn.since)).toBe(false);
          expect(next?.since.toString() ?? 'the end').toBe(isAtOrBefore(to, until) ? 'the end' : until.toString());
          expect(next?.userId).not.toBe(turn.userId);
          expect(turnAt(rotation, turn.since, isPresent)).toEqual(turn);
        }
      }),
      { numRuns: slowRuns(600, 60) },
    );
  });
});

describe('the rotation against a reference that watches the clock on the wall, half hour by half hour', () => {
  const FROM = at('2017-01-01T00:00:00Z');
  const HALF_HOURS = 3 * 365 * 48;

  // Apia and Troll skip more than the rest of an hour: there the calendar reference speaks.
  const zones = ZONES.filter((zone) => zone !== 'Pacific/Apia' && zone !== 'Antarctica/Troll');
  test.each(sweep(zones, 3, 2))('%s', (timezone) => {
    const walls = wallClocks(timezone, FROM, HALF_HOURS);
    const starts = walls.flatMap((wall, index) => (wall % 3_600_000 === 0 && index < 10_000 ? [index] : []));
    const lengths = fc.constantFrom(null, 1, 5, 8, 12, 25, 36);
    const cases = fc.tuple(fc.constantFrom(...starts), fc.constantFrom('daily', 'weekly'), lengths);
    fc.assert(
      fc.property(cases, ([start, rotationType, shiftHours]) => {
        const rotation = rotationOf({ timezone, rotationType, shiftHours, startAt: FROM.add({ minutes: start * 30 }) });
        const differing: number[] = [];
        let turn = 0;
        for (let index = start; index < HALF_HOURS; index += 1) {
          while (walls[index]! - walls[start]! >= (turn + 1) * turnHoursOf(rotation) * 3_600_000) turn += 1;
          const isNearChange = walls[index + 6]! - walls[index - 6]! !== 12 * 1_800_000;
          if (index % 149 !== 0 && !isNearChange) continue;
          const userId = turnAt(rotation, FROM.add({ minutes: index * 30 }), everybody)?.userId;
          if (userId !== rotation.userIds[turn % 3]) differing.push(index);
        }
        expect(differing).toEqual([]);
      }),
      { numRuns: slowRuns(20, 10) },
    );
  });
});

describe('hand-overs keep the clock on the wall', () => {
  test('a 09:00 hand-over stays 09:00 through years of daylight saving', () => {
    const rotation = rotationOf();
    const turns = turnsBetween(rotation, at('2026-01-06T00:00:00Z'), at('2029-01-01T00:00:00Z'), everybody, 2000);
    expect(turns).toHaveLength(1092);
    for (const turn of turns) {
      expect(turn.since.toZonedDateTimeISO('Europe/Amsterdam').toPlainTime().toString()).toBe('09:00:00');
    }
  });

  test('a weekly hand-over stays on its weekday', () => {
    const rotation = rotationOf({ rotationType: 'weekly' });
    for (const turn of turnsBetween(rotation, rotation.startAt, at('2028-01-01T00:00:00Z'), everybody, 500)) {
      expect(turn.since.toZonedDateTimeISO('Europe/Amsterdam').toPlainDateTime().dayOfWeek).toBe(1);
    }
  });

  const handOverOn = (timezone: string, startAt: string, day: string): string => {
    const rotation = rotationOf({ timezone, startAt: at(`${startAt}[${timezone}]`) });
    const evening = at(`${day}T23:59[${timezone}]`);
    return turnAt(rotation, evening, everybody)!.since.toZonedDateTimeISO(timezone).toString();
  };

  test.each([
    ['Europe/Amsterdam', '2026-03-20T02:30', '2026-03-29', '2026-03-29T03:30:00+02:00'],
    ['America/New_York', '2026-03-01T02:00', '2026-03-08', '2026-03-08T03:00:00-04:00'],
    ['Australia/Lord_Howe', '2026-10-01T02:15', '2026-10-04', '2026-10-04T02:45:00+11:00'],
    ['America/Sao_Paulo', '2018-11-01T00:00', '2018-11-04', '2018-11-04T01:00:00-02:00'],
  ])('a time that does not exist that day moves forward in %s', (timezone, startAt, day, expected) => {
    expect(handOverOn(timezone, startAt, day)).toBe(`${expected}[${timezone}]`);
  });

  test.each([
    ['Europe/Amsterdam', '2026-10-20T02:30', '2026-10-25', '2026-10-25T02:30:00+02:00'],
    ['America/New_York', '2026-10-25T01:30', '2026-11-01', '2026-11-01T01:30:00-04:00'],
    ['Australia/Lord_Howe', '2026-04-01T01:45', '2026-04-05', '2026-04-05T01:45:00+11:00'],
  ])('a time that exists twice is the first in %s', (timezone, startAt, day, expected) => {
    expect(handOverOn(timezone, startAt, day)).toBe(`${expected}[${timezone}]`);
  });

  test('the turn of a day that the calendar skipped has no length', () => {
    const timezone = 'Pacific/Apia';
    const rotation = rotationOf({ timezone, startAt: at('2011-12-28T09:00[Pacific/Apia]') });
    const turns = turnsBetween(rotation, rotation.startAt, at('2012-01-01T00:00[Pacific/Apia]'), everybody, 10);
    expect(
      turns.map((turn) => [turn.userId, turn.since.toZonedDateTimeISO(timezone).toPlainDateTime().toString()]),
    ).toEqual([
      [ANNA, '2011-12-28T09:00:00'],
      [BRAM, '2011-12-29T09:00:00'],
      [ANNA, '2011-12-31T09:00:00'],
    ]);
  });

  test('two turns of one person are one stretch when the turn between them fell into a skipped day', () => {
    const startAt = at('2011-12-29T09:00[Pacific/Apia]');
    const rotation = rotationOf({ timezone: 'Pacific/Apia', startAt, userIds: [ANNA, BRAM, ANNA, CHLOE] });
    const stretch = { userId: ANNA, since: startAt, until: at('2012-01-01T09:00[Pacific/Apia]') };
    expect(turnAt(rotation, startAt, everybody)).toEqual(stretch);
    expect(turnAt(rotation, at('2011-12-31T12:00[Pacific/Apia]'), everybody)).toEqual(stretch);
  });

  test('a hand-over in a repeated hour is not undone when the clock goes back behind it', () => {
    const rotation = rotationOf({ startAt: at('2026-10-24T02:45[Europe/Amsterdam]') });
    const secondPass = at('2026-10-25T02:30+01:00[Europe/Amsterdam]');
    expect(turnAt(rotation, secondPass, everybody)).toMatchObject({
      userId: BRAM,
      since: at('2026-10-25T02:45+02:00[Europe/Amsterdam]'),
    });
  });

  test('hourly turns that fall into a skipped day give way to those of the next day', () => {
    const timezone = 'Pacific/Apia';
    const startAt = at('2011-12-29T22:00[Pacific/Apia]');
    const rotation = rotationOf({
      timezone,
      shiftHours: 1,
      startAt,
      userIds: [ANNA, BRAM, CHLOE, CHLOE, CHLOE, DIRK, ANNA],
    });
    const turns = turnsBetween(rotation, rotation.startAt, at('2011-12-31T02:00[Pacific/Apia]'), everybody, 10);
    expect(
      turns.map((turn) => [turn.userId, turn.since.toZonedDateTimeISO(timezone).toPlainDateTime().toString()]),
    ).toEqual([
      [ANNA, '2011-12-29T22:00:00'],
      [BRAM, '2011-12-29T23:00:00'],
      [DIRK, '2011-12-31T00:00:00'],
      [ANNA, '2011-12-31T01:00:00'],
    ]);
  });

  test('turns of 5 hours whose start was skipped end where the first turn of the next day begins', () => {
    const timezone = 'Pacific/Apia';
    const rotation = rotationOf({ timezone, shiftHours: 5, startAt: at('2011-12-29T20:00[Pacific/Apia]') });
    const turns = turnsBetween(rotation, rotation.startAt, at('2011-12-31T12:00[Pacific/Apia]'), everybody, 10);
    expect(
      turns.map((turn) => [turn.userId, turn.since.toZonedDateTimeISO(timezone).toPlainDateTime().toString()]),
    ).toEqual([
      [ANNA, '2011-12-29T20:00:00'],
      [BRAM, '2011-12-31T01:00:00'],
      [ANNA, '2011-12-31T02:00:00'],
      [BRAM, '2011-12-31T07:00:00'],
    ]);
  });

  test('hourly turns are wall-clock hours: the repeated hour belongs to one turn, the skipped hour to none', () => {
    const hoursOn = (startAt: string): number[] => {
      const rotation = rotationOf({ shiftHours: 1, startAt: at(`${startAt}[Europe/Amsterdam]`) });
      const turns = turnsBetween(rotation, rotation.startAt, rotation.startAt.add({ hours: 5 }), everybody, 4);
      return turns.map((turn) => turn.since.until(turn.until!).total('hours'));
    };
    expect(hoursOn('2026-10-25T00:00')).toEqual([1, 1, 2, 1]);
    expect(hoursOn('2026-03-29T00:00')).toEqual([1, 1, 1, 1]);
  });

  test('a rotation that starts in the second pass of a repeated hour begins with its first person there', () => {
    const startAt = at('2026-10-25T02:30+01:00[Europe/Amsterdam]');
    const rotation = rotationOf({ startAt, shiftHours: 1 });
    expect(turnAt(rotation, startAt.subtract({ nanoseconds: 1 }), everybody)).toBeNull();
    expect(turnAt(rotation, startAt, everybody)).toEqual({
      userId: ANNA,
      since: startAt,
      until: startAt.add({ hours: 1 }),
    });
  });
});

test('hourly turns keep to the second pass of two repeated hours when the rotation starts in it', () => {
  const startAt = at('2026-10-25T01:00+00:00[Antarctica/Troll]');
  const turns = turnsBetween(
    rotationOf({ timezone: 'Antarctica/Troll', shiftHours: 1, startAt }),
    startAt,
    startAt.add({ hours: 3 }),
    everybody,
    10,
  );
  expect(turns.map((turn) => [turn.userId, turn.since.toString()])).toEqual([
    [ANNA, '2026-10-25T01:00:00Z'],
    [BRAM, '2026-10-25T02:00:00Z'],
    [CHLOE, '2026-10-25T03:00:00Z'],
  ]);
});

describe('the person whose turn it is', () => {
  const { startAt } = rotationOf();
  const order = (changes: Partial<Rotation>, isPresent: (userId: string) => boolean = everybody): string[] => {
    const rotation = rotationOf(changes);
    return [0, 1, 2, 3, 4, 5].map(
      (day) => turnAt(rotation, startAt.add({ hours: 24 * day }), isPresent)?.userId ?? 'nobody',
    );
  };

  test('is null before startAt, and the first person from then on', () => {
    expect(turnAt(rotationOf(), startAt.subtract({ nanoseconds: 1 }), everybody)).toBeNull();
    expect(turnAt(rotationOf(), startAt, everybody)?.userId).toBe(ANNA);
  });

  test('people take turns in order, and somebody listed twice has two turns', () => {
    expect(order({ userIds: [ANNA, BRAM, CHLOE] })).toEqual([ANNA, BRAM, CHLOE, ANNA, BRAM, CHLOE]);
    expect(order({ userIds: [ANNA, BRAM, ANNA, CHLOE] })).toEqual([ANNA, BRAM, ANNA, CHLOE, ANNA, BRAM]);
  });

  test('two turns in a row of one person are one stretch', () => {
    const turn = turnAt(rotationOf({ userIds: [ANNA, ANNA, BRAM] }), startAt.add({ hours: 30 }), everybody);
    expect(turn).toEqual({ userId: ANNA, since: startAt, until: startAt.add({ hours: 48 }) });
  });

  test('the turn of somebody who has left goes to the next in order, and nobody else moves', () => {
    const userIds = [ANNA, BRAM, CHLOE];
    expect(order({ userIds }, presentBut([BRAM]))).toEqual([ANNA, CHLOE, CHLOE, ANNA, CHLOE, CHLOE]);
    expect(order({ userIds }, presentBut([CHLOE]))).toEqual([ANNA, BRAM, ANNA, ANNA, BRAM, ANNA]);
    expect(order({ userIds }, presentBut([ANNA, BRAM]))).toEqual(Array(6).fill(CHLOE));
    expect(order({ userIds }, presentBut([ANNA, BRAM, CHLOE]))).toEqual(Array(6).fill('nobody'));
  });

  test('is null when nobody is listed', () => {
    expect(turnAt(rotationOf({ userIds: [] }), startAt, everybody)).toBeNull();
    expect(turnsBetween(rotationOf({ userIds: [] }), startAt, FAR_FUTURE, everybody, 10)).toEqual([]);
  });

  test('one person alone is on call from startAt without end', () => {
    const alone = { userId: DIRK, since: startAt, until: null };
    expect(turnAt(rotationOf({ userIds: [DIRK, DIRK] }), startAt.add({ hours: 500 }), everybody)).toEqual(alone);
  });

  test.each([null, 0, -1, Number.MIN_SAFE_INTEGER])('shiftHours of %s has no effect', (shiftHours) => {
    expect(order({ shiftHours })).toEqual([ANNA, BRAM, CHLOE, ANNA, BRAM, CHLOE]);
  });

  test('shiftHours of 12 replaces the length of a daily and of a weekly turn', () => {
    expect(order({ shiftHours: 12 })).toEqual([ANNA, CHLOE, BRAM, ANNA, CHLOE, BRAM]);
    expect(order({ shiftHours: 12, rotationType: 'weekly' })).toEqual([ANNA, CHLOE, BRAM, ANNA, CHLOE, BRAM]);
  });

  test.each([Number.MAX_SAFE_INTEGER, 3_000_000])('a turn of %s hours never ends', (shiftHours) => {
    const turn = turnAt(rotationOf({ shiftHours }), at('2199-12-31T23:59:59Z'), everybody);
    expect(turn).toEqual({ userId: ANNA, since: startAt, until: null });
  });

  test('a long list with long turns stays within the calendar', () => {
    const userIds = [...Array.from({ length: 5_000 }, () => ANNA), BRAM];
    const turn = turnAt(rotationOf({ userIds, shiftHours: 87_600 }), at('2100-01-01T00:00:00Z'), everybody);
    expect(turn).toEqual({ userId: ANNA, since: startAt, until: null });
  });

  test('instants centuries away are answered without walking there', () => {
    const rotation = rotationOf({ shiftHours: 1, startAt: at('1970-01-01T00:00:00Z') });
    for (let day = 0; day < 500; day += 1) {
      const moment = FAR_FUTURE.subtract({ hours: 24 * day + 1 });
      const turn = turnAt(rotation, moment, everybody)!;
      expect(Temporal.Instant.compare(turn.since, moment)).not.toBe(1);
    }
    expect(turnAt(rotation, FAR_FUTURE.add({ hours: 8766 }), everybody)).not.toBeNull();
  });

  test('no more turns than asked for', () => {
    expect(turnsBetween(rotationOf(), startAt, FAR_FUTURE, everybody, 7)).toHaveLength(7);
    expect(turnsBetween(rotationOf(), startAt, startAt, everybody, 7)).toEqual([]);
  });
});

test('a rotation that starts at a time that the clocks skip hands over at that time on all other days', () => {
  const timezone = 'Europe/Amsterdam';
  const times = parseScheduleTimes({ timezone, startAt: '2026-03-29T02:30' }, at('2026-01-01T00:00:00Z'));
  if (times.kind === 'faults') throw new Error('the start was not read');
  expect(times.value.startAt.toString()).toBe('2026-03-29T01:30:00Z');
  const rotation = rotationOf(times.value);
  const starts = turnsBetween(rotation, times.value.startAt, at('2026-11-01T00:00:00Z'), everybody, 500).map(
    ({ since }) => since.toZonedDateTimeISO(timezone).toPlainTime().toString(),
  );
  expect(starts.length).toBeGreaterThan(200);
  expect(new Set(starts.slice(1))).toEqual(new Set(['02:30:00']));
  expect(starts[0]).toBe('03:30:00');
});
