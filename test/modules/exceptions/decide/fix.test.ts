import { describe, expect, test } from 'vitest';

import {
  type Fix,
  isBeforeFix,
  type KnownRelease,
  newestRelease,
  RELEASE_TRUST,
  releasesToRemember,
  releaseToResolveIn,
} from '#modules/exceptions/decide/fix.ts';
import { compareReleases } from '#modules/releases/decide/release.ts';
import { onEventForGroup } from '#modules/exceptions/decide/triage.ts';
import fc from '#test/kit/properties.ts';

const known = (...names: readonly string[]): KnownRelease[] =>
  names.map((release, since) => ({ release, since, trust: RELEASE_TRUST.confirmed }));
const ofOneClient = (release: string): KnownRelease => ({ release, since: 1, trust: RELEASE_TRUST.oneClient });
const invented = (release: string): KnownRelease => ({ release, since: 99, trust: RELEASE_TRUST.oneEvent });
const next = (...names: readonly string[]): Fix => ({
  kind: 'next_release',
  release: newestRelease(known(...names)) ?? '',
  knownReleases: releasesToRemember(known(...names)),
});
const inRelease = (release: string, ...names: readonly string[]): Fix => ({
  kind: 'release',
  release,
  knownReleases: releasesToRemember(known(...names)),
});

const [SHA_A, SHA_B, SHA_C] = ['a', 'b', 'c'].map((letter) => `4b825dc${letter}642cb6eb9a060e54bf8d69288fbee490`);

describe('an event of a group that is resolved', () => {
  test.each([
    ['in the next release', 'of the release known then', next('1.3.0'), '1.3.0', 'known'],
    ['in the next release', 'of an older one', next('1.2.0', '1.3.0'), '1.2.0', 'known'],
    ['in the next release', 'of one that became known later, older by name', next('999.9.9'), '2.5.0', 'regression'],
    ['in the next release', 'of another scheme', next('2024.10.1'), '1.0.0', 'regression'],
    ['in the next release', 'of the next build', next('app@1.2.3+44'), 'app@1.2.3+45', 'regression'],
    ['in the next release', 'of the build known then', next('app@1.2.3+44'), 'app@1.2.3+44', 'known'],
    ['in the next release', 'of a build of a version known then', next('1.2.3'), '1.2.3+45', 'regression'],
    ['in the next release', 'of a newer one', next('1.3.0'), '1.3.1', 'regression'],
    ['in the next release', 'of the same one, written otherwise', next('v12'), '12', 'known'],
    ['in the next release', 'of a day before', next('20240102', '20240110'), '20240102', 'known'],
    ['in the next release', 'of five parts, one later', next('1.2.3.4.5'), '1.2.3.4.6', 'regression'],
    ['in the next release', 'of a fix of an older branch', next('1.3.0', '1.2.1'), '1.2.2', 'regression'],
    ['in the next release', 'of a commit known then', next(SHA_A!, SHA_B!), SHA_A!, 'known'],
    ['in the next release', 'of a commit not known then', next(SHA_A!, SHA_B!), SHA_C!, 'regression'],
    ['in the next release', 'of no release', next('1.3.0'), null, 'regression'],
    ['in the next release', 'of another product, known then', next('shop@1.0.0', 'web@2.0.0'), 'web@2.0.0', 'known'],
    ['in the next release', 'of a newer one of it', next('shop@9.0.0', 'web@2.0.0'), 'web@2.0.1', 'regression'],
    ['in a release', 'of an older one', inRelease('1.4.0', '1.3.0'), '1.3.9', 'known'],
    ['in a release', 'of this very one', inRelease('1.4.0', '1.3.0'), '1.4.0', 'regression'],
    ['in a release', 'of a newer one', inRelease('1.4.0', '1.3.0'), '1.4.1', 'regression'],
    ['in a release', 'of a newer one known then', inRelease('1.4.0', '1.3.0', '1.5.0'), '1.5.0', 'regression'],
    ['in a release', 'of a build of it', inRelease('1.4.0', '1.3.0'), '1.4.0+7', 'regression'],
    ['in a release', 'of a build before', inRelease('1.4.0+7', '1.3.0'), '1.4.0+6', 'known'],
    ['in a release', 'of any, a version known then', inRelease(SHA_C!, '999.9.9'), '2.5.0', 'regression'],
    ['in a release', 'of a commit known then', inRelease(SHA_C!, SHA_A!, SHA_B!), SHA_B!, 'known'],
    ['in a release', 'of this very commit', inRelease(SHA_C!, SHA_A!, SHA_C!), SHA_C!, 'regression'],
    ['in a release', 'of no release', inRelease('1.4.0', '1.3.0'), null, 'regression'],
  ] as const)('%s, %s: %#', (_how, _which, fix, release, decision) => {
    expect(onEventForGroup({ status: 'resolved', resolvedInRelease: null, fix }, { release })).toBe(decision);
  });
});

test.each([
  [[], null],
  [['1.3.0', '1.2.1'], '1.3.0'],
  [['1.2.1', '1.3.0'], '1.3.0'],
  [[SHA_A!, SHA_B!], SHA_B!],
  [['shop@1.0.0', 'web@1.0.0', 'web@1.1.0', 'shop@0.9.0'], 'shop@1.0.0'],
])('of %j the next release follows %j', (names, newest) => {
  expect(newestRelease(known(...names))).toBe(newest);
});

const number = fc.integer({ min: 0, max: 9 }).map(String);
const release = fc.oneof(
  fc.array(number, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.')),
  number.map((text) => `v${text}`),
  fc.tuple(fc.constantFrom('shop', 'web'), number).map(([product, minor]) => `${product}@1.${minor}.0`),
  fc.integer({ min: 10, max: 28 }).map((day) => `202402${day}`),
  fc.constantFrom(SHA_A!, SHA_B!, SHA_C!),
);
const releases = fc.uniqueArray(release, { maxLength: 20 });

test('what is resolved in the next release comes back with every release that was not known, and with no other', () => {
  fc.assert(
    fc.property(releases, release, (names, of) => {
      const wasKnown = names.some((name) => compareReleases(of, name) === 0);
      expect(isBeforeFix(next(...names), of)).toBe(wasKnown);
    }),
  );
});

test('an older release never has what a newer one lacks, if the release with the fix is named', () => {
  fc.assert(
    fc.property(releases, release, release, release, (names, fixed, older, newer) => {
      fc.pre((compareReleases(older, newer) ?? 0) < 0 && compareReleases(older, fixed) !== null);
      expect(!isBeforeFix(inRelease(fixed, ...names), newer) || isBeforeFix(inRelease(fixed, ...names), older)).toBe(
        true,
      );
    }),
  );
});

test('releases are remembered up to a bound, those that became known last', () => {
  const commits = known(...Array.from({ length: 900 }, (_, index) => `main-${index}`));
  const remembered = releasesToRemember([...commits, ...known('main-0')]);
  expect([remembered.length, remembered[0]]).toEqual([500, 'main-899']);
});

test.each([
  ['shop@999.9.9', [...known('shop@2.4.0', 'shop@2.4.1'), invented('shop@999.9.9')], 'shop@2.4.1'],
  ['2.4.1', [...known('2.4.0', '2.4.1'), invented('999.9.9')], '2.4.1'],
  ['2.4.0', known('2.4.0', '2.4.1'), '2.4.0'],
  ['999.9.9', [ofOneClient('2.4.0'), ofOneClient('2.4.1'), invented('999.9.9')], '2.4.1'],
  ['999.9.9', [...known('2.4.1'), ofOneClient('999.9.9')], '2.4.1'],
  ['2.3.0', [...known('2.4.0'), invented('2.3.0')], '2.3.0'],
  ['1.9.0', [invented('1.9.0')], '1.9.0'],
  ['web@999.9.9', [...known('shop@2.4.0'), invented('web@999.9.9')], 'web@999.9.9'],
  [SHA_A!, known('2.4.0', SHA_A!), SHA_A!],
  [null, known('2.4.0'), null],
])(
  'a group last seen in %s is resolved in no release newer than those that are trusted most: %#',
  (last, releases, release) => {
    expect(releaseToResolveIn(last, releases)).toBe(release);
  },
);

test('the next release does not follow an invented one', () => {
  expect(newestRelease([...known('2.4.0'), invented('999.9.9')])).toBe('2.4.0');
  expect(newestRelease([ofOneClient('2.4.0'), invented('999.9.9')])).toBe('2.4.0');
  expect(newestRelease([invented('1.0.0')])).toBe('1.0.0');
});
