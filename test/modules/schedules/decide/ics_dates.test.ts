import { expect, test } from 'vitest';

import { Temporal } from '#kernel/time.ts';
import { contactCardOf } from '#modules/contacts/decide/contact.ts';
import { escapeLineText, foldLine, readIcsDates } from '#modules/schedules/decide/ics_dates.ts';
import { beyondBound } from '#test/kit/counting/count_work.ts';

const TODAY = Temporal.PlainDate.from('2026-11-28');

const calendar = (...lines: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR'].join('\r\n');
const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'];
const read = (...lines: string[]) => readIcsDates(calendar(...lines), TODAY);

test('a day, several days and a time of the day are read as days', () => {
  expect(
    read(
      ...event('DTSTART;VALUE=DATE:20270427', 'DTEND;VALUE=DATE:20270428', 'SUMMARY:King’s', ' day'),
      ...event('DTSTART;VALUE=DATE:20271225', 'DTEND;VALUE=DATE:20271227'),
      ...event('DTSTART;TZID=Europe/Amsterdam:20271231T120000'),
    ),
  ).toEqual({ kind: 'dates', dates: ['2027-04-27', '2027-12-25', '2027-12-26', '2027-12-31'], leftOut: 0 });
});

test('an event counts on each of its days, by its end or its duration, whatever stands in its alarms', () => {
  const found = read(
    ...event('DTSTART;VALUE=DATE:20270427', 'DURATION:P2D'),
    ...event(
      'DTSTART;VALUE=DATE:20270601',
      'DURATION:P1W',
      'BEGIN:VALARM',
      'TRIGGER:-PT15M',
      'DURATION:P9D',
      'END:VALARM',
    ),
    ...event('DTSTART;TZID="Custom:1":20271230T090000', 'DTEND;TZID="Custom:1":20271231T120000'),
    ...event('DTSTART:20280101T000000Z', 'DTEND:20280102T000000Z'),
    ...event('DTSTART:20280201T090000Z', 'DURATION:PT8H'),
  );
  expect(found.kind === 'dates' && found.dates.filter((date) => !date.startsWith('2027-06'))).toEqual([
    '2027-04-27',
    '2027-04-28',
    '2027-12-30',
    '2027-12-31',
    '2028-01-01',
    '2028-02-01',
  ]);
  expect(found.kind === 'dates' && found.dates.filter((date) => date.startsWith('2027-06'))).toHaveLength(7);
});

test('a time of UTC is on the day of the zone that the calendar names, and hours count', () => {
  const [germany, christmas] = ['Europe/Berlin', ['DTSTART:20271224T230000Z', 'DTEND:20271225T230000Z']];
  for (const zone of [
    [`X-WR-TIMEZONE:${germany}`],
    ['BEGIN:VTIMEZONE', 'TZID:W. Europe Standard Time', `X-LIC-LOCATION:${germany}`, 'END:VTIMEZONE'],
    ['BEGIN:VTIMEZONE', `TZID:${germany}`, 'END:VTIMEZONE'],
  ]) {
    const found = read(...zone, ...event(...christmas), ...event('DTSTART:20271231T230000Z', 'DURATION:PT48H'));
    expect(found).toMatchObject({ dates: ['2027-12-25', '2028-01-01', '2028-01-02'] });
  }
  expect(read(...event(...christmas))).toMatchObject({ dates: ['2027-12-24', '2027-12-25'] });
  const eve = ['DTSTART;TZID="W. Europe Standard Time":20271231T200000', 'DURATION:P1DT6H'];
  expect(read(...event(...eve))).toMatchObject({ dates: ['2027-12-31', '2028-01-01', '2028-01-02'] });
});

test('an event of every year is read for some years, other recurrences are left out', () => {
  const found = read(
    ...event('DTSTART;VALUE=DATE:20100101', 'RRULE:FREQ=YEARLY'),
    ...event('DTSTART;VALUE=DATE:20100104', 'RRULE:FREQ=WEEKLY'),
  );
  expect(found).toMatchObject({ kind: 'dates', leftOut: 1 });
  expect(found.kind === 'dates' && found.dates.slice(0, 2)).toEqual(['2025-01-01', '2026-01-01']);
});

test.each([
  ['<html>', 'is not an iCalendar file'],
  [
    calendar(
      ...Array.from({ length: 50 }, (_, month) =>
        event(`DTSTART;VALUE=DATE:${2000 + month}0101`, `DTEND;VALUE=DATE:${2000 + month}0301`),
      ).flat(),
    ),
    'more than 2000 days',
  ],
])('what is no calendar of holidays is refused', (text, fault) => {
  expect(readIcsDates(text, TODAY)).toEqual({ kind: 'fault', fault: expect.stringContaining(fault) });
});

test('an event that cannot be read is left out', () => {
  expect(read(...event('DTSTART:soon'), ...event('DTSTART;VALUE=DATE:20270231'))).toMatchObject({ leftOut: 2 });
});

test('an event of every year that is named again and again takes little work each time', async () => {
  const few = { size: 100, free: 10_000, each: 1_500 };
  expect(await beyondBound(import.meta.resolve('./ics_workloads.ts'), few)).toEqual([]);
});

test.each(['\n', '\r\n', '\r', '\u000B', '\f', '\u0085', '\u2028', '\u2029', '\0'])(
  'no name begins another line by %j',
  (lineBreak) => {
    expect(escapeLineText(`Primary${lineBreak}BEGIN:VEVENT`)).toBe('Primary BEGIN:VEVENT');
  },
);

test('what separates values is escaped', () => {
  expect(escapeLineText(String.raw`a;b,c\d`)).toBe(String.raw`a\;b\,c\\d`);
});

test('a line is folded at 75 bytes and cuts no character', () => {
  const line = `NOTE:${'Größe 決済 🎉 '.repeat(20)}`;
  const folded = foldLine(line);
  for (const part of folded.split('\r\n')) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(75);
  expect(folded.replaceAll('\r\n ', '')).toBe(line);
});

test('every line of a contact card is short enough', () => {
  const card = contactCardOf('Tocsin', { phones: ['+15005550006'], emails: ['tocsin@example.com'] });
  for (const line of card.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
});
