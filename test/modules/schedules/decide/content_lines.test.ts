import { expect, test } from 'vitest';

import { contactCardOf } from '#modules/contacts/decide/contact.ts';
import { escapeLineText, foldLine } from '#modules/schedules/decide/ics_dates.ts';

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
