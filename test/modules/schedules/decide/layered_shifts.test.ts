import { describe, expect, test } from 'vitest';

import {
  finalShiftsBetween,
  type Gap,
  gapsBetween,
  onCallOfSchedule,
  type Shift,
  sortedGaps,
} from '#modules/schedules/decide/layered_shifts.ts';
import { asId } from '#kernel/ids.ts';
import { fromEpochMilliseconds, Temporal, toTimestamp } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import { sweep } from '#test/kit/properties.ts';
import { type Found, walker } from '#test/modules/schedules/decide/layer_walk.ts';
import { randomOf, randomSchedule } from '#test/modules/schedules/decide/random_schedule.ts';

/** `LAYER_CASES=10000` walks as many schedules as the proof asks for, `LAYER_SEED` others. */
const CASES = Number(process.env.LAYER_CASES ?? sweep(Array.from({ length: 400 }), 20).length);
const SEED = Number(process.env.LAYER_SEED ?? 20_261_128);

const MINUTE_MS = 60_000;
const MINUTES = 3 * 24 * 60;

const textOf = ({ layerId, source, userIds }: Shift): Found =>
  layerId === null
    ? `override ${userIds.join(' ')}`
    : `${layerId} ${source === 'override' ? 'override ' : ''}${userIds.join(' ')}`;

/** Changes of clocks near midnight, some of them at a minute past it. */
const MIDNIGHTS: readonly (readonly [zone: string, change: string])[] = [
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['America/Goose_Bay', '2010-11-07T03:01:00Z'],
  ['Asia/Gaza', '2010-03-26T22:01:00Z'],
  ['Antarctica/Casey', '2020-10-03T16:01:00Z'],
  ['Asia/Beirut', '2026-10-24T21:00:00Z'],
  ['America/Havana', '2026-11-01T05:00:00Z'],
  ['America/Asuncion', '2024-03-24T03:00:00Z'],
  ['Africa/Cairo', '2026-10-29T21:00:00Z'],
  ['Asia/Amman', '2021-10-28T22:00:00Z'],
];

/** Returns a layer in which one person is always on call. */
const layerOf = (name: string, rest: Partial<Layer>): Layer => ({
  id: name,
  name,
  rotation: { every: 1, unit: 'weeks' },
  turns: [{ userIds: [asId('user', name)] }],
  startsAt: Temporal.Instant.from('2026-03-01T00:00:00Z'),
  carried: null,
  activeFrom: null,
  endsAt: null,
  hours: null,
  holidays: null,
  ...rest,
});

test('a layer speaks until it ends, and the one below goes on, though it names the same person', () => {
  const from = Temporal.Instant.from('2026-03-02T00:00:00Z');
  const endsAt = from.add({ hours: 5 });
  const lower = layerOf('lower', {});
  const layers = [lower, layerOf('upper', { turns: lower.turns, endsAt })];
  const schedule = { timeZone: 'UTC', layers, overrides: [], holidays: new Map() };
  const shifts = finalShiftsBetween(schedule, from, from.add({ hours: 10 }), () => true, 10);
  expect(shifts).toMatchObject([
    { layerId: 'upper', userIds: ['lower'], since: lower.startsAt, until: endsAt },
    { layerId: 'lower', userIds: ['lower'], since: endsAt, until: null },
  ]);
});

test('nobody follows, as is clear soon, where layers take turns that all name the same person', () => {
  const now = Temporal.Instant.from('2026-03-02T12:00:00Z');
  const lower = layerOf('lower', {});
  const hours = Array.from({ length: 7 }, (_, day) => ({
    fromDay: day + 1,
    from: '08:00',
    toDay: day + 1,
    to: '20:00',
  }));
  let asked = 0;
  class CountingClock extends ZoneClock {
    override wallOf(ms: number): number {
      asked += 1;
      return super.wallOf(ms);
    }
  }
  const layers = [lower, layerOf('upper', { turns: lower.turns, hours })];
  const schedule = { timeZone: 'UTC', clock: new CountingClock('UTC'), layers, overrides: [], holidays: new Map() };
  const { shift, next } = onCallOfSchedule(schedule, now, () => true);
  expect([shift?.layerId, next]).toEqual(['upper', null]);
  expect(asked).toBeGreaterThan(100);
  // To the end of all time it would be a hundred times as much.
  expect(asked).toBeLessThan(50_000);
});

test.each(MIDNIGHTS)('near a midnight of %s hours and holidays are those that the clock shows', (timeZone, text) => {
  const change = Temporal.Instant.from(text);
  const before = change.subtract({ seconds: 1 }).toZonedDateTimeISO(timeZone);
  expect(before.getTimeZoneTransition('next')?.toInstant().toString()).toBe(text);
  const from = change.subtract({ hours: 8 });
  const layer = (name: string, rest: Partial<Layer>) =>
    layerOf(name, { startsAt: from.subtract({ hours: 500 }), ...rest });
  const night = Array.from({ length: 7 }, (_, day) => ({
    fromDay: day + 1,
    from: '22:00',
    toDay: day + 1,
    to: '24:00',
  }));
  const layers = [
    layer('always', {}),
    layer('night', { hours: night }),
    layer('holiday', { hours: night, holidays: { calendarId: 'calendar', on: 'speaks' } }),
  ];
  const day = change.subtract({ hours: 3 }).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const schedule = { timeZone, layers, overrides: [], holidays: new Map([['calendar', [day]]]) };
  const to = from.add({ hours: 16 });
  const who = walker(schedule, to, () => true);
  const shifts = finalShiftsBetween(schedule, from, to, () => true, 1_000);
  for (let ms = from.epochMilliseconds; ms < to.epochMilliseconds; ms += MINUTE_MS) {
    const wall = fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDateTime();
    const said = wall.hour < 22 ? 'always' : wall.toPlainDate().toString() === day ? 'holiday' : 'night';
    const shift = shifts.findLast(({ since }) => since.epochMilliseconds <= ms)!;
    expect([textOf(shift), who(ms)], wall.toString()).toEqual([`${said} ${said}`, `${said} ${said}`]);
  }
});

describe('the shifts of layers against a walk minute by minute', () => {
  test(`are the same in ${CASES} random schedules of seed ${SEED}`, () => {
    const random = randomOf(SEED);
    let [spoken, silent, several, holidayCount] = [0, 0, 0, 0];
    for (let index = 0; index < CASES; index += 1) {
      const { schedule, isPresent, from } = randomSchedule(random);
      const start = from.epochMilliseconds;
      const to = from.add({ minutes: MINUTES });
      const who = walker(schedule, to, isPresent);
      const shifts = finalShiftsBetween(schedule, from, to, isPresent, 10_000);
      const gaps = gapsBetween(schedule, from, to, isPresent, 10_000);
      const sorted = sortedGaps(schedule, from, to, isPresent, 10_000);
      const layers = schedule.layers.map((layer) =>
        layer.holidays?.on === 'silent' ? { ...layer, holidays: null } : layer,
      );
      const whoElse = walker({ ...schedule, layers }, to, isPresent);
      const lengthOf = (all: readonly Gap[]) =>
        all.reduce((sum, gap) => sum + gap.until.epochMilliseconds - gap.since.epochMilliseconds, 0);
      expect(lengthOf(sorted.unplanned) + lengthOf(sorted.holidays)).toBe(lengthOf(gaps));
      expect(sorted.unplanned.map(({ since }) => whoElse(since.epochMilliseconds)).filter(Boolean)).toEqual([]);
      expect(sorted.holidays.map(({ since }) => whoElse(since.epochMilliseconds))).not.toContain(null);
      holidayCount += sorted.holidays.length;
      const wrong: unknown[] = [];
      let [shift, gap] = [0, 0];
      for (let minute = 0; minute < MINUTES; minute += 1) {
        const at = start + minute * MINUTE_MS;
        while ((shifts[shift]?.until?.epochMilliseconds ?? Infinity) <= at) shift += 1;
        while ((gaps[gap]?.until.epochMilliseconds ?? Infinity) <= at) gap += 1;
        const current = shifts[shift];
        const found = current && current.since.epochMilliseconds <= at ? textOf(current) : null;
        const isGap = (gaps[gap]?.since.epochMilliseconds ?? Infinity) <= at;
        const expected = who(at);
        if (found !== expected || isGap !== (expected === null)) {
          const where = `case ${index} of seed ${SEED} at ${toTimestamp(fromEpochMilliseconds(at))}`;
          wrong.push({ where, found, expected, isGap });
        }
        if (expected === null) silent += 1;
        else spoken += 1;
        if ((current?.userIds.length ?? 0) > 1) several += 1;
      }
      expect(wrong, wrong.length > 0 ? JSON.stringify(schedule) : '').toEqual([]);
      for (const [place, { since, until }] of shifts.entries()) {
        const before = shifts[place - 1];
        const joins = before?.until?.equals(since) ?? false;
        expect(joins && textOf(before!) === textOf(shifts[place]!), `case ${index}`).toBe(false);
        expect(until === null || since.epochMilliseconds < until.epochMilliseconds).toBe(true);
        const early = since.epochMilliseconds - 1;
        const isWalked = early > start - 3 * 24 * 60 * MINUTE_MS;
        expect(isWalked ? who(early) : 'not walked').not.toBe(textOf(shifts[place]!));
      }
      const now = from.add({ minutes: Math.floor(random() * MINUTES) });
      const { shift: onCall, next } = onCallOfSchedule(schedule, now, isPresent);
      expect(onCall && textOf(onCall)).toBe(who(now.epochMilliseconds));
      const isNextWalked = next !== null && next.at.epochMilliseconds < to.epochMilliseconds;
      expect(isNextWalked ? who(next.at.epochMilliseconds) : '').toMatch(
        isNextWalked ? new RegExp(`(^| )${next.userIds.join(' ')}$`) : '',
      );
    }
    console.info(
      `walked ${CASES} schedules of seed ${SEED}: ${spoken} minutes with somebody, ${several} with several, ${silent} with nobody`,
    );
    expect(spoken > 0 && silent > 0 && several > 0 && holidayCount > 0).toBe(true);
  });
});
