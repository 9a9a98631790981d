import { expect, test } from 'vitest';

import { boundedMail } from '#ingest/protocols/alerts/mail.ts';

const HEAD = 'From: a@db-1.example\r\nSubject: [DOWN] db-1\r\n';

const bounded = (mail: string): string => boundedMail(Buffer.from(mail, 'latin1')).toString('latin1');

test.each([
  ['an ordinary mail', `${HEAD}\r\nDisk is full.\r\nx=1\r\n`],
  ['a mail without an end of line', `${HEAD}\r\nDisk is full.`],
  ['a mail with line feeds alone', 'Subject: x\nTo: y\n\nz\n'],
  ['a page in one line', `${HEAD}\r\n<p style="a">${'word '.repeat(20_000)}</p>`],
  ['quoted-printable of a script of its own', `${HEAD}\r\n${`${'=E3=82=B5'.repeat(8)}=\r\n`.repeat(600)}`],
  [
    'a head with long fields of many lines',
    `${HEAD}${`X: ${'y'.repeat(70)}\r\n ${'y'.repeat(70)}\r\n`.repeat(40)}\r\nz`,
  ],
  ['nothing', ''],
])('%s is read as it is', (_, mail) => {
  expect(bounded(mail)).toBe(mail);
});

test('of a long field its beginning is read, and all of the next', () => {
  const mail = `${HEAD}To: ${'a:'.repeat(40_000)}\r\nDate: x\r\n\r\ntext`;
  expect(bounded(mail)).toBe(`${HEAD}To: ${'a:'.repeat(2_046)}\r\nDate: x\r\n\r\ntext`);
  const folded = `${HEAD}To: a,\r\n${' b@c.example,\r\n'.repeat(4_000)}\r\ntext`;
  expect(bounded(folded).length).toBeLessThan(5_000);
  expect(bounded(folded)).toMatch(/\r\n\r\ntext$/);
});

test('lines, bytes, and signs of padding end what is read', () => {
  expect(bounded(`${HEAD}\r\n${'a\r\n'.repeat(9_000)}`).split('\r\n')).toHaveLength(2_001);
  expect(bounded(`${HEAD}\r\n${'a'.repeat(900_000)}`)).toHaveLength(160 * 1_024);
  const padded = bounded(`${HEAD}Content-Transfer-Encoding: base64\r\n\r\n${' =A'.repeat(40_000)}`);
  expect(padded.split('=')).toHaveLength(16_001);
  expect(bounded(`${HEAD}\r\n${'=AA=AA\r\n'.repeat(1_900)}end`)).toMatch(/end$/);
});
