import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { type Crontab, nextRun, parseCrontab } from '#modules/monitors/decide/crontab.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { Temporal } from '#kernel/time.ts';

const MINUTE = 60_000;

const FORMATS = new Map<string, Intl.DateTimeFormat>();
const QUARTERS = new Map<string, readonly [day: number, minute: number]>();

/**
 * The minute on the wall of a zone, by Node's own calendar, as `[day since 1970, minute of the day]`. No clock is changed,
 * and no day ends, but at a quarter of an hour.
 */
function wall(zone: string, ms: number): readonly [day: number, minute: number] {
  const quarterMs = Math.floor(ms / (15 * MINUTE)) * 15 * MINUTE;
  const key = `${zone} ${quarterMs}`;
  const [day, minute] = QUARTERS.get(key) ?? readWall(zone, quarterMs);
  QUARTERS.set(key, [day, minute]);
  return [day, minute + Math.floor((ms - quarterMs) / MINUTE)];
}

function readWall(zone: string, ms: number): readonly [day: number, minute: number] {
  let format = FORMATS.get(zone);
  if (format === undefined) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...parts });
    FORMATS.set(zone, format);
  }
  const found: Readonly<Record<string, number>> = Object.fromEntries(
    format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = found;
  return [Date.UTC(year, month - 1, day) / 86_400_000, hour * 60 + minute];
}

/** Says of one minute on the wall whether a line names it, by the rules of cron(8) and nothing else. */
function names(line: string, day: number, minute: number): boolean {
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = line.split(' ');
  const date = new Date(day * 86_400_000);
  const is = (field: string, value: number, from: number, to: number): boolean =>
    field.split(',').some((part) => {
      const [range = '', step = '1'] = part.split('/');
      const [low = '', high] = range === '*' ? [String(from), String(to)] : range.split('-');
      const last = high === undefined ? (part.includes('/') ? to : Number(low)) : Number(high);
      return value >= Number(low) && value <= last && (value - Number(low)) % Number(step) === 0;
    });
  if (!is(minutes, minute % 60, 0, 59) || !is(hours, Math.floor(minute / 60), 0, 23)) return false;
  if (!is(months, date.getUTCMonth() + 1, 1, 12)) return false;
  const ofMonth = is(days, date.getUTCDate(), 1, 31);
  const ofWeek = is(weekdays, date.getUTCDay(), 0, 6);
  return days.startsWith('*') || weekdays.startsWith('*') ? ofMonth && ofWeek : ofMonth || ofWeek;
}

/** Walks from minute to minute, as a clock on the wall does, and watches it jump. */
function referenceRun(line: string, zone: string, afterMs: number, limitMs: number): number | null {
  const isRepeating = line
    .split(' ')
    .slice(0, 2)
    .some((field) => field.startsWith('*'));
  const seen = new Set<string>();
  const walkFrom = Math.floor(afterMs / MINUTE) * MINUTE - 26 * 60 * MINUTE;
  let before = wall(zone, walkFrom - MINUTE);
  for (let ms = walkFrom; ms <= limitMs; ms += MINUTE) {
    const [day, minute] = wall(zone, ms);
    const skipped = (day - before[0]) * 1_440 + minute - before[1] - 1;
    let runs = names(line, day, minute) && (isRepeating || !seen.has(`${day} ${minute}`));
    // Less than a day: a calendar without a day has no runs on it.
    if (!isRepeating && skipped > 0 && skipped < 1_440) {
      for (let left = 1; left <= skipped; left += 1) {
        const at = before[0] * 1_440 + before[1] + left;
        if (names(line, Math.floor(at / 1_440), at % 1_440)) runs = true;
      }
    }
    seen.add(`${day} ${minute}`);
    if (runs && ms > afterMs) return ms;
    before = [day, minute];
  }
  return null;
}

const crontabOf = (line: string): Crontab => unwrap(parseCrontab(line, 'crontab'));

/** Zones and moments around which their clocks are changed, by an hour, by half an hour, at midnight, by a whole day. */
const ODD: readonly (readonly [zone: string, around: string])[] = [
  ['Europe/Amsterdam', '2027-03-28T01:00Z'],
  ['Europe/Amsterdam', '2027-10-31T01:00Z'],
  ['America/New_York', '2027-03-14T07:00Z'],
  ['America/New_York', '2027-11-07T06:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00Z'],
  ['Australia/Lord_Howe', '2027-10-02T15:30Z'],
  ['Africa/Cairo', '2027-04-29T22:00Z'],
  ['Africa/Cairo', '2027-10-28T21:00Z'],
  ['America/Havana', '2027-03-14T05:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['Asia/Kolkata', '2027-06-01T00:00Z'],
  ['UTC', '2028-02-28T23:00Z'],
];

const field = (min: number, max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('*') },
    { weight: 4, arbitrary: fc.integer({ min, max }).map(String) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }).map((step) => `*/${step}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(fc.integer({ min, max }), { minLength: 2, maxLength: 3 }).map((l) => l.join(',')),
    },
  );

const lines = fc
  .tuple(field(0, 59), field(0, 4), field(1, 31), fc.constant('*'), field(0, 6))
  .map((fields) => fields.join(' '));

describe('the next run of a crontab', () => {
  test.each([
    ['0 0 L * *', ['2026-11-30', '2026-12-31', '2027-01-31', '2027-02-28']],
    ['0 0 L 2 *', ['2027-02-28', '2028-02-29']],
    ['0 0 LW * *', ['2026-11-30', '2026-12-31', '2027-01-29', '2027-02-26']],
    ['0 0 1,L * *', ['2026-11-30', '2026-12-01', '2026-12-31', '2027-01-01']],
    ['0 0 * * 5L', ['2026-12-25', '2027-01-29', '2027-02-26']],
    ['0 0 * * FRI#2', ['2026-12-11', '2027-01-08', '2027-02-12']],
    ['0 0 * * 7#5', ['2027-01-31', '2027-05-30']],
    ['0 0 * * 1#1,3#3', ['2026-12-07', '2026-12-16', '2027-01-04']],
  ])('of %s counts days from an end of the month', (line, dates) => {
    let at = Temporal.Instant.from('2026-11-29T12:00Z');
    const runs = dates.map(() => {
      at = nextRun(crontabOf(line), 'UTC', at)!;
      return at.toString().slice(0, 10);
    });
    expect(runs).toEqual(dates);
  });

  test.each(['0 0 * * 5#6', '0 0 * * 8L', '0 0 * * L', '0 0 15W * *', '0 L * * *', '0 0 * L *', '0 0 * * 5#'])(
    'cannot be told where %s names no day',
    (line) => {
      expect(parseCrontab(line, 'crontab')).toHaveProperty('faults');
    },
  );

  test('is the one that a walk over the minutes of the wall finds, also where clocks are changed', () => {
    fc.assert(
      fc.property(
        lines,
        fc.constantFrom(...ODD),
        fc.integer({ min: -1_500, max: 200 }),
        (line, [zone, around], minutes) => {
          const afterMs = Temporal.Instant.from(around).epochMilliseconds + minutes * MINUTE;
          const limitMs = afterMs + 2_000 * MINUTE;
          const next = nextRun(crontabOf(line), zone, Temporal.Instant.fromEpochMilliseconds(afterMs));
          const found = next !== null && next.epochMilliseconds <= limitMs ? next.epochMilliseconds : null;
          expect(found).toBe(referenceRun(line, zone, afterMs, limitMs));
        },
      ),
      { numRuns: 25 },
    );
  });

  test('comes after each run again, with nothing left out and nothing twice', () => {
    const crontab = crontabOf('*/15 2 * * *');
    let at = Temporal.Instant.from('2027-10-30T22:00Z');
    const runs = Array.from({ length: 9 }, () => {
      at = nextRun(crontab, 'Europe/Amsterdam', at)!;
      return at.toString().slice(8, 16);
    });
    // Between 02:00 and 03:00 all quarters come twice.
    const twice = ['31T00:00', '31T00:15', '31T00:30', '31T00:45', '31T01:00', '31T01:15', '31T01:30', '31T01:45'];
    expect(runs).toEqual([...twice, '01T01:00']);
  });

  test.each([
    ['30 2 * * *', 'Europe/Amsterdam', '2027-03-28T00:00Z', '2027-03-28T01:00:00Z'],
    // Half past two comes twice there: the second time only for what goes by elapsed time.
    ['30 2 * * *', 'Europe/Amsterdam', '2026-10-25T00:30Z', '2026-10-26T01:30:00Z'],
    ['30 * * * *', 'Europe/Amsterdam', '2026-10-25T00:30Z', '2026-10-25T01:30:00Z'],
    ['0 0 29 2 *', 'UTC', '2097-01-01T00:00Z', '2104-02-29T00:00:00Z'],
    ['0 0 13 * 5', 'UTC', '2027-06-01T00:00Z', '2027-06-04T00:00:00Z'],
    ['@weekly', 'UTC', '2027-06-01T00:00Z', '2027-06-06T00:00:00Z'],
    ['5 4 * jan,MAR sun-tue', 'UTC', '2027-02-01T00:00Z', '2027-03-01T04:05:00Z'],
    ['0 12 * * 7', 'UTC', '2027-06-01T00:00Z', '2027-06-06T12:00:00Z'],
  ])('of %s in %s after %s is %s', (line, zone, after, next) => {
    expect(nextRun(crontabOf(line), zone, Temporal.Instant.from(after))?.toString()).toBe(next);
  });
});

test.each([
  ['', 'five fields'],
  ['* * * *', 'five fields'],
  ['* * * * * *', 'seconds'],
  ['60 * * * *', 'minute "60"'],
  ['* 24 * * *', 'hour "24"'],
  ['0 0 31 2 *', 'never comes'],
  ['*/0 * * * *', 'step'],
  ['5-60 * * * *', 'minute "5-60"'],
  ['0 0 15W * *', 'day of the month'],
  [`0 0 1 1 *${' '.repeat(300)}`, 'longer than'],
])('the line %j is refused with a reason', (line, reason) => {
  const parsed = parseCrontab(line, 'crontab');
  expect(parsed).toMatchObject({ kind: 'faults', faults: [{ message: expect.stringContaining(reason) }] });
});

test.each([
  ['0 9 * * sat-sun', '0 9 * * 0,6'],
  ['0 9 * * 6-0', '0 9 * * 0,6'],
  ['0 9 * * 6-7', '0 9 * * 0,6'],
  ['0 9 * * fri-mon', '0 9 * * 0,1,5,6'],
  ['0 9 * * 7-2', '0 9 * * 0,1,2'],
  ['0 22-2 * * *', '0 22,23,0,1,2 * * *'],
  ['0 20-3/3 * * *', '0 20,23,2 * * *'],
  ['0 0 30-2 * *', '0 0 1,2,30,31 * *'],
  ['0 0 1 nov-feb *', '0 0 1 1,2,11,12 *'],
  ['50-10/10 * * * *', '50,0,10 * * * *'],
])('a range that wraps goes on from the lowest value: %s', (wrapped, listed) => {
  const sorted = ({ times, ...rest }: Crontab) => ({
    times: times.toSorted((a, b) => a - b),
    days: [...rest.days].toSorted((a, b) => a - b),
    months: [...rest.months].toSorted((a, b) => a - b),
    weekdays: [...rest.weekdays].toSorted((a, b) => a - b),
  });
  expect(sorted(unwrap(parseCrontab(wrapped, 'c')))).toEqual(sorted(unwrap(parseCrontab(listed, 'c'))));
});
