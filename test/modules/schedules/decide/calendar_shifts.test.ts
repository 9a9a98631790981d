import { expect, test } from 'vitest';

import { calendarShifts } from '#modules/schedules/decide/calendar_shifts.ts';
import type { Rotation } from '#modules/schedules/decide/rotation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { finalShiftsBetween } from '#modules/schedules/decide/layered_shifts.ts';
import { ANNA, at, BRAM, everybody, rotationOf, scheduleOf } from '#test/modules/schedules/decide/given_rotation.ts';

type Instant = Temporal.Instant;

function piecesOf(rotation: Rotation, from: Instant, to: Instant) {
  const night = {
    overrideId: 'override_1' as Id<'override'>,
    userId: BRAM,
    startAt: at('2028-03-02T22:00:00Z'),
    endAt: at('2028-03-03T06:00:00Z'),
  };
  const overrides = [{ ...night, createdAt: at('2026-01-01T00:00:00Z') }];
  const shifts = finalShiftsBetween(scheduleOf(rotation, overrides), from, to, everybody, 1_000);
  return [...calendarShifts(shifts, scheduleOf(rotation), { from, to, limit: 1_000 })];
}

const textsOf = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.map(({ userIds, since, until }) => `${userIds.join(' ')} ${since.toString()} ${until.toString()}`);

test('the turn of somebody who is alone for years is cut at its hand-overs, by the wall clock', () => {
  const weekly = rotationOf({ rotationType: 'weekly', userIds: [ANNA] });
  const pieces = piecesOf(weekly, at('2028-03-15T00:00:00Z'), at('2028-04-01T00:00:00Z'));
  expect(textsOf(pieces)).toEqual([
    'anna 2028-03-13T08:00:00Z 2028-03-20T08:00:00Z',
    'anna 2028-03-20T08:00:00Z 2028-03-27T07:00:00Z',
    'anna 2028-03-27T07:00:00Z 2028-04-03T07:00:00Z',
  ]);
});

test('what is read later has the same pieces as before, also beside an override', () => {
  const daily = rotationOf({ userIds: [ANNA] });
  const [from, to] = [at('2028-03-01T00:00:00Z'), at('2028-03-20T00:00:00Z')];
  const first = textsOf(piecesOf(daily, from, to));
  const later = textsOf(piecesOf(daily, from.add({ hours: 53 }), to.add({ hours: 53 })));
  expect(first.filter((text) => later.includes(text)).length).toBeGreaterThan(15);
  const known = first.slice(first.indexOf(later[0] ?? ''));
  expect(later.slice(0, known.length)).toEqual(known);
  expect(first.filter((text) => text.startsWith('bram'))).toHaveLength(1);
});

test('turns of an hour of somebody who is alone are one piece a day', () => {
  const hourly = rotationOf({ userIds: [ANNA], shiftHours: 1 });
  expect(piecesOf(hourly, at('2027-06-01T00:00:00Z'), at('2027-06-03T00:00:00Z'))).toHaveLength(3);
});
