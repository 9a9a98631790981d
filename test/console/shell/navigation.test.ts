import { expect, test } from 'vitest';

import { NAVIGATION } from '#console/shell/navigation.ts';

/** Letters that do something on a page. */
const ACTING = new Set<string>(['a', 'r', 'u', 'x', 'j', 'k', 'g']);

test('each room has a letter of its own, which does nothing else', () => {
  const keys = NAVIGATION.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.filter((key) => ACTING.has(key))).toEqual([]);
});

test('the bar of a phone has room for four links beside More', () => {
  expect(NAVIGATION.filter(({ isInBar }) => isInBar).length).toBeLessThanOrEqual(4);
});
