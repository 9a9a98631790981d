import { expect, test } from 'vitest';

import { matches, readPaletteQuery } from '#console/shell/palette/palette_query.ts';

test.each([
  ['dana', 'dana', null],
  ['put Dana on call', 'Dana', 'put'],
  ['Put  Dana Scully on-call', 'Dana Scully', 'put'],
  ['put dana on', 'dana', 'put'],
  ['put dana on call tonight', 'dana', 'put'],
  ['put dana', 'dana', 'put'],
  ['put', 'put', null],
  ['output queue', 'output queue', null],
  ['acknowledge', '', 'acknowledge'],
  ['ack 12', '12', 'acknowledge'],
  ['acknowledged', 'acknowledged', null],
  ['Resolve  checkout is slow ', 'checkout is slow', 'resolve'],
  ['resolved', 'resolved', null],
  ['silence checkout', 'checkout', 'silence'],
  ['mute', '', 'silence'],
])('%j looks for %j', (typed, text, verb) => {
  expect(readPaletteQuery(typed)).toEqual({ text, verb });
});

test('a page matches when all words occur', () => {
  expect(matches('set aud', 'Audit log', 'Settings')).toBe(true);
  expect(matches('audit xyz', 'Audit log', 'Settings')).toBe(false);
  expect(matches('', 'Audit log')).toBe(true);
});
