import { expect, test } from 'vitest';

import { Temporal } from '#kernel/time.ts';
import { deploysOf, firstBadRelease, suspectDeployOf } from '#modules/releases/decide/deploys.ts';
import fc from '#test/kit/properties.ts';

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

const BEGAN = Temporal.Instant.from('2027-03-10T03:00:00Z');
const deploy = (release: string, minutesBefore: number, environment: string | null = 'production') => ({
  release,
  at: BEGAN.subtract({ seconds: minutesBefore * 60 }),
  environment,
});
const suspected = { beganAt: BEGAN, environments: new Set(['production']), firstBadRelease: null };

test('recorded deploys come first; the first exception counts only for a release that nobody has told of', () => {
  const recorded = [deploy('2', 30), deploy('2', 10, 'staging')];
  const seen = [
    { release: '2', at: BEGAN },
    { release: '1', at: BEGAN.subtract({ minutes: 20 }) },
    { release: '0', at: BEGAN.subtract({ minutes: 5 }) },
  ];
  expect(deploysOf(recorded, seen, new Set(['0']))).toEqual([
    deploy('2', 10, 'staging'),
    deploy('1', 20, null),
    deploy('2', 30),
  ]);
});

test('the suspect is the deploy of the first bad release, or else the last one before the exception began', () => {
  const deploys = [deploy('3', 1), deploy('2', 40), deploy('1', 90)];
  expect(suspectDeployOf(deploys, suspected)).toEqual(deploy('3', 1));
  expect(suspectDeployOf(deploys, { ...suspected, firstBadRelease: '2' })).toEqual(deploy('2', 40));
  expect(suspectDeployOf(deploys, { ...suspected, firstBadRelease: '0' })).toEqual(deploy('3', 1));
  expect(suspectDeployOf([], suspected)).toBeNull();
});

test('a deploy elsewhere is not to blame, and one that came later only while its own release was rolled out', () => {
  expect(suspectDeployOf([deploy('3', 1, 'staging'), deploy('2', 40)], suspected)).toEqual(deploy('2', 40));
  expect(suspectDeployOf([deploy('3', 1, 'staging')], { ...suspected, environments: new Set() })?.release).toBe('3');
  expect(suspectDeployOf([deploy('3', -20)], suspected)).toBeNull();
  expect(suspectDeployOf([deploy('3', -20)], { ...suspected, firstBadRelease: '3' })?.release).toBe('3');
});

test('whatever was deployed, the suspect was deployed where the exception was seen, and nothing nearer was passed over', () => {
  const deploys = fc.array(
    fc
      .tuple(
        fc.constantFrom('1', '2', '3'),
        fc.integer({ min: -60, max: 600 }),
        fc.constantFrom('production', 'staging'),
      )
      .map(([release, minutes, environment]) => deploy(release, minutes, environment)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(deploys, fc.constantFrom('1', '2', null), (given, firstBadRelease) => {
      const found = suspectDeployOf(given, { ...suspected, firstBadRelease });
      const possible = given.filter(
        ({ environment, at, release }) =>
          environment === 'production' &&
          at.since(BEGAN).total('seconds') <= (release === firstBadRelease ? 1_800 : 60),
      );
      const alike = possible.filter(({ release }) => release === firstBadRelease);
      const times = (alike.length > 0 ? alike : possible).map(({ at }) => at.epochMilliseconds);
      expect(found?.at.epochMilliseconds ?? -Infinity).toBe(Math.max(...times));
    }),
  );
});
