import { expect, test } from 'vitest';

import { firstBadRelease } from '#modules/releases/decide/deploys.ts';

const seen = (release: string, firstSeenAt: string) => ({ release, firstSeenAt });
const RELEASES = [seen('3', '2027-02-03'), seen('', '2027-01-01'), seen('1', '2027-02-01'), seen('2', '2027-02-02')];

test('the first bad release is the one whose events came first', () => {
  expect(firstBadRelease(RELEASES, null)?.release).toBe('1');
  expect(firstBadRelease([seen('', '2027-01-01')], null)).toBeNull();
});

test('after a group was resolved, it is the first one that brought it back', () => {
  expect(firstBadRelease(RELEASES, '2027-02-02')?.release).toBe('2');
  expect(firstBadRelease(RELEASES, '2027-02-09')?.release).toBe('3');
});
