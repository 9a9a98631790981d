import { expect, test } from 'vitest';

import { matches, readPaletteQuery } from '#console/shell/palette/palette_query.ts';

test.each([
  ['dana', 'dana', false],
  ['put Dana on call', 'Dana', true],
  ['Put  Dana Scully on-call', 'Dana Scully', true],
  ['put dana on', 'dana', true],
  ['put dana', 'dana', true],
  ['put', 'put', false],
  ['output queue', 'output queue', false],
])('%j looks for %j', (typed, text, isPutOnCall) => {
  expect(readPaletteQuery(typed)).toEqual({ text, isPutOnCall });
});

test('a page matches when all words occur', () => {
  expect(matches('set aud', 'Audit log', 'Settings')).toBe(true);
  expect(matches('audit xyz', 'Audit log', 'Settings')).toBe(false);
  expect(matches('', 'Audit log')).toBe(true);
});
