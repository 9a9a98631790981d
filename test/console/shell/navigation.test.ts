import { expect, test } from 'vitest';

import { MAIN_NAVIGATION } from '#console/router.tsx';

/** Letters that do something on a page. */
const ACTING = new Set<string>(['a', 'r', 'u', 'x', 'j', 'k', 'g']);

test('each main page has a letter of its own, which does nothing else', () => {
  const keys = MAIN_NAVIGATION.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.filter((key) => ACTING.has(key))).toEqual([]);
});

test('the bar of a phone has room for four links beside More', () => {
  expect(MAIN_NAVIGATION.filter(({ isInBar }) => isInBar).length).toBeLessThanOrEqual(4);
});
