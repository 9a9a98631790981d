import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';
import { faultsOf, unwrap } from '#modules/contacts/decide/parsed.ts';
import { parseOverrideWindow, parseScheduleTimes, parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { AppError } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';

const read = (value: unknown, timeZone = 'Europe/Amsterdam'): string =>
  unwrap(parseInstant(value, timeZone, 'startAt')).toString();

const messageFor = (value: unknown): string | undefined =>
  faultsOf(parseInstant(value, 'Europe/Amsterdam', 'startAt'))[0]?.message;

describe('a time', () => {
  test.each([
    ['RFC 3339 in UTC', '2026-03-01T09:00:00Z', '2026-03-01T09:00:00Z'],
    ['RFC 3339 with an offset', '2026-03-01T09:00:00-05:00', '2026-03-01T14:00:00Z'],
    ['RFC 3339 with an unknown local offset', '2026-03-01T09:00:00-00:00', '2026-03-01T09:00:00Z'],
    ['RFC 3339 in lower case', '2026-03-01t09:00:00z', '2026-03-01T09:00:00Z'],
    ['milliseconds', '2026-03-01T09:00:00.125Z', '2026-03-01T09:00:00.125Z'],
    ['more digits than are kept', '2026-03-01T09:00:00.1239999999999Z', '2026-03-01T09:00:00.123Z'],
    ['a leap second, as the last second', '2016-12-31T23:59:60Z', '2016-12-31T23:59:59Z'],
    ['local time in winter', '2026-03-01T09:00:00', '2026-03-01T08:00:00Z'],
    ['local time in summer', '2026-07-01T09:00:00.5', '2026-07-01T07:00:00.5Z'],
    ['local time without seconds', '2026-07-01T09:00', '2026-07-01T07:00:00Z'],
    ['local time that is skipped', '2026-03-29T02:30', '2026-03-29T01:30:00Z'],
    ['local time that is repeated', '2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['epoch milliseconds', 1_772_352_000_000, '2026-03-01T08:00:00Z'],
    ['the first moment', 0, '1970-01-01T00:00:00Z'],
    ['the last moment', '2199-12-31T23:59:59.999Z', '2199-12-31T23:59:59.999Z'],
  ])('may be %s', (_, value, expected) => {
    expect(read(value)).toBe(expected);
  });

  test.each([
    null,
    undefined,
    true,
    {},
    [],
    ['2026-03-01T09:00:00Z'],
    '',
    'now',
    'tomorrow 9am',
    '2026-03-01',
    '09:00',
    '2026-W09-7T09:00:00Z',
    '20260301T090000Z',
    '2026-03-01 09:00:00Z',
    ' 2026-03-01T09:00:00Z',
    '2026-03-01T09:00:00Z\n',
    '2026-03-01T09:00Z',
    '2026-03-01T09Z',
    '2026-03-01T09:00:00+01',
    '2026-03-01T09:00:00+0100',
    '2026-03-01T09:00:00.Z',
    '2026-03-01T09:00:00,5Z',
    '2026-03-01T09:00:00[Europe/Amsterdam]',
    '2026-03-01T09:00:00+01:00[Europe/Amsterdam]',
    '2026-02-30T09:00:00Z',
    '2026-13-01T09:00:00',
    '2026-03-01T24:00:00Z',
    '2026-03-01T09:60:00Z',
    '2026-03-01T09:00:00+25:00',
    '+002026-03-01T09:00:00Z',
    '1772352000000',
    1_772_352_000_000.5,
    NaN,
    Infinity,
  ])('may not be %j', (value) => {
    expect(messageFor(value)).toMatch(
      /is not a valid time: give an RFC 3339 time .*, a local date .*, or whole milliseconds/,
    );
  });

  test.each([
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00',
    '2200-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    -1,
    7_258_118_400_000,
    Number.MAX_SAFE_INTEGER,
    -Number.MAX_SAFE_INTEGER,
    1e300,
  ])('may not be as far away as %j', (value) => {
    expect(messageFor(value)).toMatch(/is not in the years 1970 to 2199$/);
  });

  test('a long value is cut short in the message', () => {
    expect(messageFor('x'.repeat(10_000))?.length).toBeLessThan(400);
  });

  test('whatever is sent, the answer is a moment within the calendar or a fault with its path', () => {
    const digits = fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?$/);
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), digits, fc.maxSafeInteger()), (value) => {
        const parsed = parseInstant(value, 'Australia/Lord_Howe', 'endAt');
        const millisecond = parsed.kind === 'ok' ? parsed.value.epochMilliseconds : 0;
        expect(millisecond >= 0 && millisecond < 7_258_118_400_000).toBe(true);
        expect(faultsOf(parsed).map((fault) => fault.path)).toEqual(parsed.kind === 'ok' ? [] : ['endAt']);
      }),
    );
  });

  test('an instant that the product sends is read back as it was', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_258_118_399_999 }), (millisecond) => {
        const text = Temporal.Instant.fromEpochMilliseconds(millisecond).toString({ fractionalSecondDigits: 3 });
        expect(read(text)).toBe(read(millisecond));
      }),
    );
  });
});

describe('a time zone', () => {
  test.each([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['europe/amsterdam', 'Europe/Amsterdam'],
    ['AMERICA/ARGENTINA/BUENOS_AIRES', 'America/Argentina/Buenos_Aires'],
    ['asia/kolkata', 'Asia/Kolkata'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['us/pacific', 'US/Pacific'],
    ['etc/gmt+2', 'Etc/GMT+2'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
  ])('%s is %s', (text, expected) => {
    expect(unwrap(parseTimeZone(text, 'timezone'))).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '+02:00',
    '-05',
    '+0200',
    'Z',
    'PST',
    'IST',
    'SystemV/PST8',
    'GMT+2',
    'Mars/Olympus',
    ' UTC',
    'Europe',
    '2026-01-01T00:00[UTC]',
  ])('%j is none', (text) => {
    const [fault] = faultsOf(parseTimeZone(text, 'timezone'));
    expect(fault).toEqual({
      path: 'timezone',
      message: `${JSON.stringify(text)} is not a time zone: give an IANA name, for example "Europe/Amsterdam" or "UTC"`,
    });
  });
});

describe('the times of a schedule', () => {
  const now = at('2026-03-01T09:00:00.123456Z');

  test('an absent zone is UTC, and an absent or null start is now', () => {
    for (const startAt of [undefined, null]) {
      const { timezone, startAt: start } = unwrap(parseScheduleTimes({ startAt }, now));
      expect([timezone, start.toString()]).toEqual(['UTC', '2026-03-01T09:00:00.123Z']);
    }
  });

  test('a local start is read in the zone of the schedule', () => {
    const parsed = unwrap(parseScheduleTimes({ timezone: 'asia/kolkata', startAt: '2026-03-01T09:00' }, now));
    expect([parsed.timezone, parsed.startAt.toString()]).toEqual(['Asia/Kolkata', '2026-03-01T03:30:00Z']);
  });

  test('both faults are named at once', () => {
    const faults = faultsOf(parseScheduleTimes({ timezone: '+02:00', startAt: 'soon' }, now));
    expect(faults.map((fault) => fault.path)).toEqual(['timezone', 'startAt']);
  });
});

describe('the window of an override', () => {
  const window = (startAt: unknown, endAt: unknown) => parseOverrideWindow({ startAt, endAt }, 'Europe/Amsterdam');

  test('mixes the forms of a moment', () => {
    const { startAt, endAt } = unwrap(window('2026-03-01T09:00', 1_772_355_600_000));
    expect([startAt.toString(), endAt.toString()]).toEqual(['2026-03-01T08:00:00Z', '2026-03-01T09:00:00Z']);
  });

  test('is refused when it ends at or before its start', () => {
    for (const endAt of ['2026-03-01T09:00', '2026-03-01T08:59', 0]) {
      expect(faultsOf(window('2026-03-01T09:00', endAt))).toEqual([
        { path: 'endAt', message: 'must be after startAt, which is 2026-03-01T09:00:00+01:00' },
      ]);
    }
  });

  test('is refused for both ends at once, as invalid input', () => {
    const bad = window(null, 'later');
    expect(faultsOf(bad).map((fault) => fault.path)).toEqual(['startAt', 'endAt']);
    expect(() => unwrap(bad)).toThrow(AppError);
  });
});
