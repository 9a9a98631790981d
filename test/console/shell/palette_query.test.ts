import { expect, test } from 'vitest';

import { isOneLetterOff, PAGE_WORDS, rank, readPaletteQuery } from '#console/shell/palette/palette_query.ts';

test.each([
  ['dana', 'dana', null],
  ['put Dana on call', 'Dana', 'put'],
  ['Put  Dana Scully on-call', 'Dana Scully', 'put'],
  ['put dana on', 'dana', 'put'],
  ['put dana on call tonight', 'dana', 'put'],
  ['put dana', 'dana', 'put'],
  ['page dana', 'dana', 'put'],
  ['call Dana Scully', 'Dana Scully', 'put'],
  ['put', 'put', null],
  ['page', 'page', null],
  ['output queue', 'output queue', null],
  ['acknowledge', '', 'acknowledge'],
  ['ack 12', '12', 'acknowledge'],
  ['acknow', '', 'acknowledge'],
  ['acknowlege 12', '12', 'acknowledge'],
  ['acknowledged', 'acknowledged', null],
  ['Resolve  checkout is slow ', 'checkout is slow', 'resolve'],
  ['resolved', 'resolved', null],
  ['res', 'res', null],
  ['silence checkout', 'checkout', 'silence'],
  ['mute', '', 'silence'],
])('%j looks for %j', (typed, text, verb) => {
  expect(readPaletteQuery(typed)).toEqual({ text, verb });
});

test('a title that begins with the search comes before its other words, those looked for besides, and typos', () => {
  expect(rank('aud', 'Audit log')).toBe(0);
  expect(rank('', 'Audit log')).toBe(0);
  expect(rank('set aud', 'Audit log', 'Settings')).toBe(2);
  expect(rank('log', 'Audit log')).toBe(1);
  expect(rank('audti', 'Audit log')).toBe(3);
  expect(rank('audit xyz', 'Audit log', 'Settings')).toBeNull();
});

test.each([
  ['issue tracker', '/settings/integrations'],
  ['slack', '/settings/places'],
  ['scim', '/settings/provisioning'],
  ['single sign-on', '/settings/sign-in'],
  ['second factor', '/settings/sign-in'],
  ['time zone', '/settings/delivery'],
  ['price', '/settings/billing'],
  ['pagerduty', '/settings/move-in'],
  ['holidays', '/oncall'],
  ['password', '/me'],
])('the setting %j is found on %s', (typed, page) => {
  const found = Object.entries(PAGE_WORDS).flatMap(([to, words]) => (rank(typed, to, words) === null ? [] : [to]));
  expect(found).toContain(page);
});

test('a word of the search never fits the middle of a word', () => {
  expect(rank('ack', 'Export the organization', 'archive backup zip')).toBeNull();
  expect(rank('backup', 'Export the organization', 'archive backup zip')).toBe(2);
  expect(rank('key', 'Create an API key')).toBe(1);
});

test.each([
  ['anan', 'anna', true],
  ['acknowlege', 'acknowledge', true],
  ['polcies', 'policies', true],
  ['teamms', 'teams', true],
  ['exprot', 'export', true],
  ['expert', 'export', true],
  ['silence', 'license', false],
  ['dana', 'anna', false],
])('%j for %j', (word, text, isOff) => {
  expect(isOneLetterOff(word, text)).toBe(isOff);
});
