import ICAL from 'ical.js';
import { describe, expect, test } from 'vitest';

import { ourShifts } from '#modules/moving_in/decide/proof.ts';
import { allEqual, item, NOW, onCall, read, type Result } from '#test/modules/moving_in/answers.ts';
import { randomOf } from '#test/modules/moving_in/random_answers.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { sweep } from '#test/kit/properties.ts';

test('an iCal feed is written down until a date', () => {
  const feed = [
    'BEGIN:VCALENDAR',
    'X-WR-CALNAME:On call',
    'X-WR-TIMEZONE:Europe/Berlin',
    'BEGIN:VEVENT',
    'UID:1',
    'SUMMARY:Ada',
    'ATTENDEE;CN=Ada:mailto:ada@example.com',
    'DTSTART;TZID=Europe/Berlin:20260601T080000',
    'DTEND;TZID=Europe/Berlin:20260601T200000',
    'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR',
    'EXDATE;TZID=Europe/Berlin:20260618T080000',
    'END:VEVENT',
    'BEGIN:VEVENT',
    'UID:2',
    'SUMMARY:Somebody',
    'DTSTART:20260620T080000Z',
    'DTEND:20260620T200000Z',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');
  const result = read('ical', [{ path: 'feed.ics', value: feed }]);
  expect(
    ['2026-06-17T06:00:00Z', '2026-06-17T18:00:00Z', '2026-06-18T06:00:00Z'].map((at) => onCall(result, at)),
  ).toEqual(['Ada', 'nobody', 'nobody']);
  expect(item(result, 'schedule', 'feed.ics').verdict).toBe('horizon');
  expect(item(result, 'event', '2')).toMatchObject({
    verdict: 'refused',
    reason: 'It names nobody by a mail address.',
  });
});

test('a shift that begins at a time that the clocks skip recurs at the time that is written', () => {
  const feed = [
    'BEGIN:VCALENDAR',
    'X-WR-TIMEZONE:America/Havana',
    ...event('1', 'Ada', 'DTSTART:20260308T003000', 'DTEND:20260308T083000', 'RRULE:FREQ=DAILY'),
    'END:VCALENDAR',
  ].join('\r\n');
  const result = read('ical', [{ path: 'feed.ics', value: feed }]);
  const at = (times: readonly string[]) => times.map((time) => onCall(result, `2026-${time}Z`));
  expect(at(['06-20T04:29:00', '06-20T04:31:00', '06-20T12:29:00', '06-20T12:31:00'])).toEqual([
    'nobody',
    'Ada',
    'Ada',
    'nobody',
  ]);
});

const event = (uid: string, who: string, ...lines: readonly string[]): readonly string[] => [
  'BEGIN:VEVENT',
  `UID:${uid}`,
  `SUMMARY:${who}`,
  ...who.split('+').map((name) => `ATTENDEE;CN=${name}:mailto:${name.toLowerCase()}@example.com`),
  ...lines,
  'END:VEVENT',
];

const feedOf = (...lines: readonly (string | readonly string[])[]): string =>
  ['BEGIN:VCALENDAR', 'X-WR-CALNAME:On call', 'X-WR-TIMEZONE:Europe/Berlin', ...lines.flat(), 'END:VCALENDAR'].join(
    '\r\n',
  );

const readFeed = (...lines: readonly (string | readonly string[])[]): Result =>
  read('ical', [{ path: 'feed.ics', value: feedOf(...lines) }]);

const at = (result: Result, ...times: readonly string[]): string[] =>
  times.map((time) => onCall(result, `2026-06-${time}:00Z`));

describe('a feed', () => {
  test('gives overrides of a schedule of its name, whose layers stay as they are', () => {
    const result = readFeed(event('1', 'Ada', 'DTSTART:20260616T080000Z', 'DTEND:20260618T080000Z'));
    expect(result.file.schedules).toEqual([
      {
        key: expect.any(String),
        team: 'ical-everything-else',
        name: 'On call',
        timezone: 'Europe/Berlin',
        overrides: [
          { person: 'ical-ada_example.com', startsAt: '2026-06-16T10:00:00', endsAt: '2026-06-18T10:00:00' },
        ].map((override) => ({ ...override, person: expect.stringMatching(/^ical-ada/) })),
      },
    ]);
    expect(allEqual(result)).toBe(true);
  });

  test('has two people on call at once as a layer', () => {
    const result = readFeed(
      event('1', 'Ada', 'DTSTART:20260616T080000Z', 'DTEND:20260618T080000Z'),
      event('2', 'Bo', 'DTSTART:20260617T080000Z', 'DTEND:20260619T080000Z'),
      event('3', 'Cy+Di', 'DTSTART:20260620T080000Z', 'DTEND:20260621T080000Z'),
    );
    expect(at(result, '16T12:00', '17T12:00', '18T12:00', '20T12:00', '21T12:00')).toEqual([
      'Ada',
      'Ada and Bo',
      'Bo',
      'Cy and Di',
      'nobody',
    ]);
    expect(allEqual(result)).toBe(true);
  });

  test('has two people together who come and go at half hours and at whole ones', () => {
    const result = readFeed(
      event('1', 'Ada', 'DTSTART:20260616T080000Z', 'DURATION:PT2H30M', 'RRULE:FREQ=DAILY;COUNT=30'),
      event('2', 'Bo', 'DTSTART:20260616T090000Z', 'DURATION:PT1H30M', 'RRULE:FREQ=DAILY;COUNT=30'),
    );
    expect(at(result, '16T08:59', '16T10:29', '16T10:30', '27T10:29', '27T10:30')).toEqual([
      'Ada',
      'Ada and Bo',
      'nobody',
      'Ada and Bo',
      'nobody',
    ]);
    expect(allEqual(result)).toBe(true);
  });

  test('counts a beginning that its rule does not say as the first event, and says so', () => {
    const result = readFeed(
      event('1', 'Ada', 'DTSTART:20260616T080000Z', 'DURATION:PT2H', 'RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3'),
    );
    expect(at(result, '16T09:00', '17T09:00', '24T09:00', '30T09:00')).toEqual(['Ada', 'Ada', 'Ada', 'nobody']);
    expect(item(result, 'event', '1').reason).toContain('here it is the first of 3');
  });

  test('says days without times in its own zone, and leaves declined people and reminders out', () => {
    const result = readFeed([
      'BEGIN:VEVENT',
      'UID:1',
      'ATTENDEE;CN=Ada:mailto:ada@example.com',
      'ATTENDEE;CN=Bo;PARTSTAT=DECLINED:mailto:bo@example.com',
      'DTSTART;VALUE=DATE:20260617',
      'BEGIN:VALARM',
      'ATTENDEE:mailto:cy@example.com',
      'DURATION:PT15M',
      'END:VALARM',
      'END:VEVENT',
    ]);
    expect(at(result, '16T21:59', '16T22:00', '17T21:59', '17T22:00')).toEqual(['nobody', 'Ada', 'Ada', 'nobody']);
  });

  test('has events in zones of their own, by names that it explains, and refuses those that nobody knows', () => {
    const result = readFeed(
      ['BEGIN:VTIMEZONE', 'TZID:Eastern Standard Time', 'X-LIC-LOCATION:America/New_York', 'END:VTIMEZONE'],
      event('1', 'Ada', 'DTSTART;TZID=America/New_York:20260616T080000', 'DURATION:PT2H'),
      event('2', 'Bo', 'DTSTART;TZID="Eastern Standard Time":20260617T080000', 'DURATION:P0DT2H'),
      event('3', 'Cy', 'DTSTART;TZID=Mars/Base:20260618T080000', 'DURATION:PT2H'),
    );
    expect(at(result, '16T12:30', '17T12:30', '18T12:30')).toEqual(['Ada', 'Bo', 'nobody']);
    expect(item(result, 'event', '3')).toMatchObject({
      verdict: 'refused',
      reason: 'Nobody knows the time zone "Mars/Base".',
    });
  });

  test('moves and cancels single events of a series, and adds others', () => {
    const result = readFeed(
      event(
        '1',
        'Ada',
        'DTSTART:20260616T080000Z',
        'DTEND:20260616T100000Z',
        'RRULE:FREQ=DAILY;COUNT=6',
        'RDATE:20260625T080000Z',
      ),
      event('1', 'Bo', 'RECURRENCE-ID:20260617T080000Z', 'DTSTART:20260617T120000Z', 'DTEND:20260617T140000Z'),
      event('1', 'Ada', 'RECURRENCE-ID:20260618T080000Z', 'STATUS:CANCELLED', 'DTSTART:20260618T080000Z'),
    );
    expect(at(result, '16T09:00', '17T09:00', '17T13:00', '18T09:00', '21T09:00', '22T09:00', '25T09:00')).toEqual([
      'Ada',
      'nobody',
      'Bo',
      'nobody',
      'Ada',
      'nobody',
      'Ada',
    ]);
  });

  test('is said to repeat in a way that nothing here repeats by, and is taken once', () => {
    const result = readFeed(
      event('1', 'Ada', 'DTSTART:20260616T080000Z', 'DURATION:PT1H', 'RRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2'),
    );
    expect(item(result, 'event', '1')).toMatchObject({
      verdict: 'refused',
      reason: expect.stringContaining('Only its first event is taken'),
    });
    expect(at(result, '16T08:30')).toEqual(['Ada']);
  });
});

const FEEDS = sweep(Array.from({ length: 400 }), 50).length;

test(`${FEEDS} random feeds say the same as another reader of RFC 5545 at every change`, () => {
  const random = randomOf(42);
  const int = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const pick = <Item>(items: readonly Item[]): Item => items[int(0, items.length - 1)]!;
  const two = (value: number): string => String(value).padStart(2, '0');
  const wrong: unknown[] = [];
  for (let feed = 0; feed < FEEDS; feed += 1) {
    const events = Array.from({ length: int(1, 4) }, (_, index) => {
      const day = int(1, 28);
      const earliest = `2026-${two(int(1, 5))}-${two(day)}T${two(int(0, 23))}:${pick(['00', '30'])}:00Z`;
      const rule = pick([
        () => `DAILY;INTERVAL=${int(1, 5)}`,
        () => `WEEKLY;INTERVAL=${int(1, 3)};WKST=${pick(['MO', 'SU'])}`,
        () => `MONTHLY;BYMONTHDAY=${pick(['1,15', '-1', '31', '-2,3'])}`,
        () => `MONTHLY;BYDAY=${pick(['1MO', '-1FR', '2TU,4TU', 'SA'])}`,
        () => `YEARLY;BYMONTH=7,10;BYDAY=${pick(['1MO', '-1SU'])}`,
        () => `HOURLY;INTERVAL=${int(20, 50)}`,
        () => `DAILY;BYMONTH=7,9`,
      ])();
      const end = pick(['', `;COUNT=${int(1, 60)}`, `;UNTIL=2026${two(int(8, 12))}15T120000Z`]);
      // RFC 5545, 3.8.5.3: what a rule says that does not say its own beginning is undefined, and readers differ.
      const start = ICAL.Recur.fromString(`FREQ=${rule}`).iterator(ICAL.Time.fromDateTimeString(earliest)).next();
      return event(
        String(index),
        pick(['Ada', 'Bo']),
        `DTSTART:${start.toICALString()}`,
        `DURATION:PT${int(1, 20)}H`,
        `RRULE:FREQ=${rule}${end}`,
      );
    });
    const text = feedOf(...events);
    const result = read('ical', [{ path: 'feed.ics', value: text }]);
    const schedule = result.file.schedules![0]!;
    const [from, to] = [Date.parse('2026-06-16T00:00:00Z'), NOW + 170 * 86_400_000];
    const ours = ourShifts(schedule, new ZoneClock('Europe/Berlin'), from, to);
    const theirs: { from: number; to: number; name: string }[] = [];
    for (const component of new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent')) {
      const parsed = new ICAL.Event(component);
      const iterator = parsed.iterator();
      for (let next = iterator.next(); next !== undefined; next = iterator.next()) {
        const begin = next.toUnixTime() * 1_000;
        if (begin >= to) break;
        theirs.push({ from: begin, to: begin + parsed.duration.toSeconds() * 1_000, name: parsed.summary });
      }
    }
    const nameOf = (key: string): string => result.file.people!.find((person) => person.key === key)!.name;
    const edges = [...ours, ...theirs].flatMap((shift) => [shift.from, shift.to]);
    for (const time of [...new Set(edges)].filter((edge) => edge >= from && edge < to)) {
      const [their, our] = [
        [...new Set(theirs.filter((shift) => shift.from <= time && time < shift.to).map(({ name }) => name))],
        ours.find((shift) => shift.from <= time && time < shift.to)!.people.map(nameOf),
      ];
      if (their.toSorted().join() === our.toSorted().join()) continue;
      wrong.push({ feed, time: new Date(time).toISOString(), their, our, text });
      break;
    }
  }
  expect(wrong).toEqual([]);
});
