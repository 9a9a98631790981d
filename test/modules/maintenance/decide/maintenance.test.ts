import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  haveCommonSubject,
  isFor,
  labelsOf,
  type MaintenanceTimes,
  nextMaintenance,
  nextOverlap,
} from '#modules/maintenance/decide/maintenance.ts';
import { SuppressionTimes } from '#modules/incidents/decide/maintenance_times.ts';
import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { CHAINED_AT, chainedWindows } from '#test/modules/maintenance/decide/maintenance_workloads.ts';
import { countWork } from '#test/kit/counting/count_work.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** Half hours, quarter hours, changes of 30 minutes, at midnight, by a whole day, and none. */
const ZONES = [
  'UTC',
  'Europe/Amsterdam',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Santiago',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Asia/Beirut',
  'Pacific/Chatham',
];

const FORMATS = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
  ]),
);

/** Returns the wall clock of a zone as if it were UTC. */
function wallOf(ms: number, zone: string): number {
  const parts = new Map(
    FORMATS.get(zone)!
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** Returns when the wall clock shows this first; in a gap, as long behind it as the gap is. */
function instantOf(wall: number, zone: string): number {
  const offset = (ms: number) => wallOf(ms, zone) - ms;
  const [before, after] = [wall - offset(wall - DAY), wall - offset(wall + DAY)];
  const shown = [before, after].filter((ms) => wallOf(ms, zone) === wall).toSorted((a, b) => a - b);
  return shown[0] ?? before;
}

/** Every occurrence around an instant, by walking over the days of the zone. */
function occurrences({ startsAt, endsAt, recurrence, timezone }: MaintenanceTimes, around: number): [number, number][] {
  const [first, last] = [startsAt.epochMilliseconds, endsAt?.epochMilliseconds ?? Infinity];
  if (recurrence === null) return [[first, last]];
  const [hour = 0, minute = 0] = recurrence.startTime.split(':').map(Number);
  const midnight = Math.floor(wallOf(around, timezone) / DAY) * DAY;
  return Array.from({ length: 25 }, (_, index) => midnight + (index - 12) * DAY).flatMap((day): [number, number][] => {
    const weekday = new Date(day).getUTCDay() || 7;
    if (!recurrence.weekdays.includes(weekday)) return [];
    const wall = day + (hour * 60 + minute) * MINUTE;
    const [begins, length] = [instantOf(wall, timezone), recurrence.minutes * MINUTE];
    const from = Math.max(first, begins);
    // From a time that the day skips it lasts as long as it says.
    const to = Math.min(last, wallOf(begins, timezone) === wall ? instantOf(wall + length, timezone) : begins + length);
    return from < to ? [[from, to]] : [];
  });
}

/** Around the changes of clocks of two years, and at any other time. */
const instant = fc.oneof(
  fc.integer({ min: Date.UTC(2025, 0, 1) / MINUTE, max: Date.UTC(2027, 0, 1) / MINUTE }),
  fc
    .tuple(
      fc.constantFrom('2026-03-29', '2026-10-25', '2026-03-08', '2026-11-01', '2026-04-05', '2026-10-04', '2026-04-24'),
      fc.integer({ min: -2_000, max: 2_000 }),
    )
    .map(([day, minutes]) => Date.parse(`${day}T01:00:00Z`) / MINUTE + minutes),
);

const recurring: fc.Arbitrary<MaintenanceTimes> = fc
  .record({
    at: instant,
    zone: fc.constantFrom(...ZONES),
    weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
    start: fc.integer({ min: 0, max: 1_439 }),
    minutes: fc.integer({ min: 5, max: 720 }),
    lasts: fc.option(fc.integer({ min: 60, max: 40_000 })),
  })
  .map(({ at, zone, weekdays, start, minutes, lasts }) => ({
    startsAt: fromEpochMilliseconds((at - 15_000) * MINUTE),
    endsAt: lasts === null ? null : fromEpochMilliseconds((at - 15_000 + lasts) * MINUTE),
    recurrence: {
      weekdays,
      startTime: `${String(Math.floor(start / 60)).padStart(2, '0')}:${String(start % 60).padStart(2, '0')}`,
      minutes,
    },
    timezone: zone,
  }));

const once: fc.Arbitrary<MaintenanceTimes> = fc
  .tuple(instant, fc.integer({ min: 1, max: 6_000 }))
  .map(([at, minutes]) => ({
    startsAt: fromEpochMilliseconds(at * MINUTE),
    endsAt: fromEpochMilliseconds((at + minutes) * MINUTE),
    recurrence: null,
    timezone: 'UTC',
  }));

const SERVICE = { serviceId: 'svc_1', ruleId: null, labelName: null, labelValue: null };
const SUBJECT = { serviceId: 'svc_1', ruleId: 'rule_1', labels: {} };

function suppressionTimesOf(windows: readonly MaintenanceTimes[]) {
  return new SuppressionTimes(windows.map((one) => ({ ...SERVICE, ...one })));
}

function quietUntil(windows: readonly MaintenanceTimes[], at: Temporal.Instant): Temporal.Instant | null {
  return suppressionTimesOf(windows).find(SUBJECT, at)?.until ?? null;
}

const window = fc.oneof({ weight: 4, arbitrary: recurring }, { weight: 1, arbitrary: once });

test('pages wait exactly as long as walking over the days of the zone says, in any zone and over changes of clocks', () => {
  let quiet = 0;
  fc.assert(
    fc.property(fc.array(window, { minLength: 1, maxLength: 3 }), instant, (windows, minute) => {
      const at = minute * MINUTE;
      const latest = at + 31 * DAY;
      let until = at;
      for (let changed = true; changed && until < latest;) {
        const ends = windows
          .flatMap((one) => occurrences(one, until))
          .filter(([from, to]) => from <= until && until < to)
          .map(([, to]) => to);
        changed = ends.length > 0;
        until = Math.min(latest, Math.max(until, ...ends));
      }
      const found = quietUntil(windows, fromEpochMilliseconds(at));
      expect(found?.epochMilliseconds ?? at).toBe(until);
      if (found !== null) quiet += 1;
    }),
    { numRuns: slowRuns(3_000) },
  );
  expect(quiet).toBeGreaterThan(1);
});

test('a window at a time that the clocks skip is in effect that day, too', () => {
  const weekly = {
    startsAt: Temporal.Instant.from('2027-01-01T00:00:00Z'),
    endsAt: null,
    recurrence: { weekdays: [7], startTime: '02:30', minutes: 30 },
    timezone: 'Europe/Amsterdam',
  };
  expect(nextMaintenance(weekly, Temporal.Instant.from('2027-03-28T00:00:00Z'))).toEqual({
    startsAt: Temporal.Instant.from('2027-03-28T01:30:00Z'),
    endsAt: Temporal.Instant.from('2027-03-28T02:00:00Z'),
  });
});

test('the next maintenance is in effect when it begins, and none is in effect before', () => {
  fc.assert(
    fc.property(window, instant, (one, minute) => {
      const from = fromEpochMilliseconds(minute * MINUTE);
      const next = nextMaintenance(one, from);
      const isNow = next !== null && Temporal.Instant.compare(next.startsAt, from) <= 0;
      expect(quietUntil([one], from) !== null).toBe(isNow);
      expect(next === null || quietUntil([one], next.startsAt) !== null).toBe(true);
    }),
    { numRuns: slowRuns(4_000) },
  );
});

test('maintenance without an end or a gap still lets pages go after 31 days', () => {
  const always = { startsAt: Temporal.Instant.from('2026-01-01T00:00:00Z'), endsAt: null, timezone: 'UTC' };
  const halves = ['00:00', '12:00'].map((startTime) => ({
    ...always,
    recurrence: { weekdays: [1, 2, 3, 4, 5, 6, 7], startTime, minutes: 720 },
  }));
  const at = Temporal.Instant.from('2026-02-01T00:00:00Z');
  expect(quietUntil(halves, at)?.toString()).toBe('2026-03-04T00:00:00Z');
});

test('a window that neither recurs nor ends keeps nothing quiet', () => {
  const at = Temporal.Instant.from('2026-02-01T00:00:00Z');
  const endless = { startsAt: at, endsAt: null, recurrence: null, timezone: 'UTC' };
  expect([nextMaintenance(endless, at), quietUntil([endless], at)]).toEqual([null, null]);
});

test('what was found out about one instant changes nothing for another', () => {
  fc.assert(
    fc.property(
      fc.array(window, { minLength: 1, maxLength: 4 }),
      instant,
      fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 2, maxLength: 8 }),
      (windows, minute, others) => {
        const suppressionTimes = suppressionTimesOf(windows);
        for (const other of others) {
          const at = fromEpochMilliseconds((minute + other) * MINUTE);
          expect(suppressionTimes.find(SUBJECT, at)?.until.toString()).toBe(quietUntil(windows, at)?.toString());
        }
      },
    ),
    { numRuns: slowRuns(500, 40) },
  );
});

/** More than twice what a window takes: its times on two days, and a look at it for each window of the chain. */
const WORK_OF_WINDOW_MAX = 2_000;

test('windows that follow each other are each read once, however many there are', async () => {
  expect(quietUntil(chainedWindows(200), CHAINED_AT)?.toString()).toBe('2026-11-03T07:21:00Z');
  const counts = await countWork(import.meta.resolve('./maintenance_workloads.ts'), [200]);
  expect(counts.get('windows that follow each other')![0]).toBeLessThan(200 * WORK_OF_WINDOW_MAX);
});

test('maintenance is for a service, a rule, or what a selector demands', () => {
  const config = { comparator: '>', threshold: 1, windowMinutes: 5, aggregation: 'avg' } as const;
  const labels = labelsOf({
    kind: 'metric_threshold',
    config: { ...config, metricName: 'load{host="web-3",env!="dev",zone=~"eu.*"}' },
  });
  expect(labels).toEqual({ host: 'web-3' });
  const subject = { serviceId: 'service_1', ruleId: 'rule_1', labels };
  const none = { serviceId: null, ruleId: null, labelName: null, labelValue: null };
  expect(isFor({ ...none, serviceId: 'service_1' }, subject)).toBe(true);
  expect(isFor({ ...none, serviceId: 'service_2' }, subject)).toBe(false);
  expect(isFor({ ...none, ruleId: 'rule_1' }, subject)).toBe(true);
  expect(isFor({ ...none, labelName: 'host', labelValue: 'web-3' }, subject)).toBe(true);
  expect(isFor({ ...none, labelName: 'zone', labelValue: 'eu.*' }, subject)).toBe(false);
  expect(isFor({ ...none, labelName: 'host', labelValue: 'web-9' }, subject)).toBe(false);
});

describe('two windows', () => {
  const once = (from: string, to: string): MaintenanceTimes => ({
    startsAt: Temporal.Instant.from(from),
    endsAt: Temporal.Instant.from(to),
    recurrence: null,
    timezone: 'UTC',
  });
  const weekly = (weekdays: number[], startTime: string, minutes: number): MaintenanceTimes => ({
    startsAt: Temporal.Instant.from('2026-01-01T00:00:00Z'),
    endsAt: null,
    recurrence: { weekdays, startTime, minutes },
    timezone: 'UTC',
  });
  const from = Temporal.Instant.from('2026-06-01T00:00:00Z');

  test('overlap at the first time in which both are in effect', () => {
    const overlap = nextOverlap(weekly([1, 2, 3, 4, 5], '02:00', 60), weekly([3], '02:30', 600), from);
    expect(overlap?.startsAt.toString()).toBe('2026-06-03T02:30:00Z');
    expect(overlap?.endsAt.toString()).toBe('2026-06-03T03:00:00Z');
  });

  test('that are both in effect overlap from now on', () => {
    const overlap = nextOverlap(weekly([7], '22:00', 240), once('2026-05-30T00:00:00Z', '2026-06-09T00:00:00Z'), from);
    expect(overlap?.startsAt.toString()).toBe('2026-06-01T00:00:00Z');
    expect(overlap?.endsAt.toString()).toBe('2026-06-01T02:00:00Z');
  });

  test('are told apart: the one in effect is named, and both together say until when', () => {
    const later = { ...SERVICE, ...once('2026-06-01T02:00:00Z', '2026-06-01T05:00:00Z') };
    const now = { ...SERVICE, ...once('2026-05-31T00:00:00Z', '2026-06-01T03:00:00Z') };
    const ended = { ...SERVICE, ...once('2026-05-30T00:00:00Z', '2026-06-01T00:00:00Z') };
    const other = { ...now, serviceId: 'svc_2' };
    const quiet = new SuppressionTimes([ended, other, later, now]).find(SUBJECT, from);
    expect([quiet?.window, quiet?.until.toString()]).toEqual([now, '2026-06-01T05:00:00Z']);
    expect(new SuppressionTimes([later, other]).find(SUBJECT, from)).toBeNull();
  });

  test.each([
    ['on the last day of a week', 7, '2026-06-07T02:00:00Z'],
    ['on the same day of the next week when it is over today', 1, '2026-06-08T02:00:00Z'],
  ])('that recur weekly come %s', (_when, weekday, startsAt) => {
    const next = nextMaintenance(weekly([weekday], '02:00', 60), from.add({ hours: 12 }));
    expect(next?.startsAt.toString()).toBe(startsAt);
  });

  test('do not overlap when one ends as the other begins, or one is over', () => {
    expect(nextOverlap(weekly([1], '02:00', 60), weekly([1], '03:00', 60), from)).toBeNull();
    expect(
      nextOverlap(weekly([1], '02:00', 60), once('2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z'), from),
    ).toBeNull();
  });

  test('overlap exactly when some minute of the next two weeks is in both', () => {
    const any = fc.record({
      weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
      start: fc.integer({ min: 0, max: 47 }),
      minutes: fc.constantFrom(30, 60, 90, 720),
    });
    const timesOf = ({ weekdays, start, minutes }: { weekdays: number[]; start: number; minutes: number }) => {
      const startTime = `${String(Math.floor(start / 2)).padStart(2, '0')}:${start % 2 === 0 ? '00' : '30'}`;
      return weekly(weekdays, startTime, minutes);
    };
    fc.assert(
      fc.property(any, any, (a, b) => {
        const [one, other] = [timesOf(a), timesOf(b)];
        let first: Temporal.Instant | null = null;
        for (let half = 0; half < 14 * 48 && first === null; half += 1) {
          const at = from.add({ minutes: half * 30 });
          if (quietUntil([one], at) !== null && quietUntil([other], at) !== null) first = at;
        }
        expect(nextOverlap(one, other, from)?.startsAt.toString()).toBe(first?.toString());
      }),
      { numRuns: slowRuns(60) },
    );
  });

  test('are for the same thing when a rule is kept quiet by both', () => {
    const nothing = { serviceId: null, ruleId: null, labelName: null, labelValue: null };
    const rule = { serviceId: 'svc_1', ruleId: 'rule_1', labels: { host: 'web-3' } };
    const service = { ...nothing, serviceId: 'svc_1' };
    const label = { ...nothing, labelName: 'host', labelValue: 'web-3' };
    expect(haveCommonSubject(service, { ...nothing, ruleId: 'rule_1' }, [rule])).toBe(true);
    expect(haveCommonSubject(service, label, [rule])).toBe(true);
    expect(haveCommonSubject(service, label, [])).toBe(false);
    expect(haveCommonSubject(service, { ...nothing, serviceId: 'svc_2' }, [rule])).toBe(false);
    expect(haveCommonSubject(label, label, [])).toBe(true);
  });
});
