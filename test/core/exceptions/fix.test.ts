import { describe, expect, test } from 'vitest';

import { type Fix, isBeforeFix, type KnownRelease, newestRelease, releasesToRemember } from '#core/exceptions/fix.ts';
import { compareReleases } from '#core/exceptions/release.ts';
import { onEventForGroup } from '#core/exceptions/triage.ts';
import fc from '#test/kit/properties.ts';

const known = (...names: readonly string[]): KnownRelease[] => names.map((release, since) => ({ release, since }));
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
    ['in the next release', 'of an older one', next('1.2.0', '1.3.0'), '1.2.9', 'known'],
    ['in the next release', 'of a newer one', next('1.3.0'), '1.3.1', 'regression'],
    ['in the next release', 'of the same one, written otherwise', next('v12'), '12', 'known'],
    ['in the next release', 'of a day before', next('20240102', '20240110'), '20240105', 'known'],
    ['in the next release', 'of five parts, one later', next('1.2.3.4.5'), '1.2.3.4.6', 'regression'],
    ['in the next release', 'of a fix of an older branch', next('1.3.0', '1.2.1'), '1.2.2', 'known'],
    ['in the next release', 'of a commit known then', next(SHA_A!, SHA_B!), SHA_A!, 'known'],
    ['in the next release', 'of a commit not known then', next(SHA_A!, SHA_B!), SHA_C!, 'regression'],
    ['in the next release', 'of no release', next('1.3.0'), null, 'regression'],
    ['in the next release', 'of another product, known then', next('shop@1.0.0', 'web@2.0.0'), 'web@2.0.0', 'known'],
    ['in the next release', 'of a newer one of it', next('shop@9.0.0', 'web@2.0.0'), 'web@2.0.1', 'regression'],
    ['in a release', 'of an older one', inRelease('1.4.0', '1.3.0'), '1.3.9', 'known'],
    ['in a release', 'of this very one', inRelease('1.4.0', '1.3.0'), '1.4.0', 'regression'],
    ['in a release', 'of a newer one', inRelease('1.4.0', '1.3.0'), '1.4.1', 'regression'],
    ['in a release', 'of a newer one known then', inRelease('1.4.0', '1.3.0', '1.5.0'), '1.5.0', 'regression'],
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

test('what is remembered of the known releases decides as all of them would', () => {
  fc.assert(
    fc.property(releases, release, fc.constantFrom('next_release', 'release'), release, (names, fixed, kind, of) => {
      const all: Fix = { kind, release: fixed, knownReleases: names };
      const remembered: Fix = { ...all, knownReleases: releasesToRemember(known(...names)) };
      expect(isBeforeFix(remembered, of)).toBe(isBeforeFix(all, of));
    }),
  );
});

test('no release that was known reopens what is resolved in the next one, and every later one does', () => {
  fc.assert(
    fc.property(releases, release, (names, of) => {
      const fix = next(...names);
      const isLater = names.every((name) => (compareReleases(of, name) ?? 1) > 0);
      expect(!names.includes(of) || isBeforeFix(fix, of)).toBe(true);
      expect(isLater && isBeforeFix(fix, of)).toBe(false);
    }),
  );
});

test('an older release never has what a newer one lacks', () => {
  fc.assert(
    fc.property(releases, release, release, release, (names, fixed, older, newer) => {
      fc.pre((compareReleases(older, newer) ?? 0) < 0);
      for (const fix of [next(...names), inRelease(fixed, ...names)]) {
        expect(!isBeforeFix(fix, newer) || isBeforeFix(fix, older)).toBe(true);
      }
    }),
  );
});

test('releases that cannot be compared are remembered up to a bound, the newest first', () => {
  const commits = Array.from({ length: 500 }, (_, index) => ({ release: `main-${index}`, since: index }));
  const remembered = releasesToRemember(commits);
  expect([remembered.length, remembered[0]]).toEqual([200, 'main-499']);
});
