import { expect, test } from 'vitest';

import { isOlderRelease } from '#modules/releases/decide/release.ts';
import fc from '#test/kit/properties.ts';

test.each([
  ['1.4.0', '1.4.1'],
  ['1.4', '1.4.1'],
  ['shop@1.4.0-rc.1+build', 'shop@1.4.0'],
  ['v9', 'v12'],
  ['shop@v9', 'shop@v12'],
  ['12', '13'],
  ['20240102', '20240110'],
  ['20240102.1', '20240102.2'],
  ['2024-01-02', '2024-01-10'],
  ['202401020930', '202401021000'],
  ['202401020930', '20240103'],
  ['2024-01-02', '20240103093015'],
  ['2024.5.1', '2024.12.0'],
  ['shop@2024.05', 'shop@2025.01'],
  ['12', '12.1'],
  ['1.2.3.4.5', '1.2.3.4.6'],
  ['1.2.3.4', '1.2.3.4.1'],
  ['com.shop@1.2.3+44', 'com.shop@1.2.3+45'],
  ['1.2.3+9', '1.2.3+10'],
  ['1.2.3+99', '1.2.4+1'],
  ['1.2.3+1.2.3.44', '1.2.3+1.2.3.45'],
  ['1.2.3-rc.1+9', '1.2.3-rc.1+10'],
  ['1.4.0-rc9', '1.4.0-rc10'],
  ['1.4.0-beta-9', '1.4.0-beta-10'],
  ['1.4.0-rc10', '1.4.0-rc5-1'],
  ['1.4.0-dev20261128093011001', '1.4.0-dev20261128093011002'],
  ['1.4.0-SNAPSHOT', '1.4.0'],
  ['1.4.0-9', '1.4.0-10'],
  ['1.4.0-p9', '1.4.0-p10'],
  ['1.4.0-10', '1.4.1'],
  ['1.4.0', '1.4.0-12-g3f2a1bc'],
  ['v1.4.0-12-g3f2a1bc', 'v1.4.0-13-g1111111'],
  ['1.4.0-rc.1-3-g3f2a1bc', '1.4.0'],
  ['1.4.0-3f2a1bc', '1.4.1-1f2a1bc'],
  ['20261128-ff2a1bc', '20261129-1f2a1bc'],
])('%s is older than %s, and not the other way round', (older, newer) => {
  expect([isOlderRelease(older, newer), isOlderRelease(newer, older)]).toEqual([true, false]);
});

test.each([
  ['shop@1.0.0', 'cart@2.0.0'],
  ['4b825dc642cb6eb9a060e54bf8d69288fbee4904', '9b825dc642cb6eb9a060e54bf8d69288fbee4904'],
  ['1234567', '7654321'],
  ['12345678', '87654321'],
  ['20240102', '1.4.0'],
  ['202401020930', '20240102'],
  ['2024.5.1', '1.0.0'],
  ['2024.5.1', '20240502'],
  ['1234', '1.0.0'],
  ['main', 'main-2'],
  ['1.2.3+4b825dc', '1.2.3+9a060e5'],
  ['1.2.3', '1.2.3+45'],
  ['1.4.0-3f2a1bc', '1.4.0-9aa01c2'],
  ['1.4.0-3f2a1bc', '1.4.0'],
  ['1.4.0-beta.3f2a1bc', '1.4.0-beta.9aa01c2'],
  ['1.4.0-12-g3f2a1bc', '1.4.0-12-g9aa01c2'],
  ['20261129-3f2a1bc', '20261129-9aa01c2'],
  ['1.4.0-production', '1.4.0-staging'],
  ['1.4.0-hotfix', '1.4.0'],
  ['1.4.0-1', '1.4.0'],
  ['1.4.0-p1', '1.4.0'],
  ['1.4.0-build.7', '1.4.0'],
  ['1.4.0-test', '1.4.0-staging'],
  ['1.4.0-2', '1.4.0-rc.1'],
  [null, '1.0.0'],
])('of %s and %s none is known to be older', (a, b) => {
  expect([isOlderRelease(a, b), isOlderRelease(b, a)]).toEqual([false, false]);
});

test('the order of candidates holds for any three, wherever their numbers stand', () => {
  const count = fc.constantFrom(
    '',
    '0',
    '01',
    '1',
    '9',
    '10',
    '5-1',
    '5-10',
    '1234567890',
    '5000000000',
    '.1',
    '-',
    '-2',
  );
  const candidate = fc
    .tuple(fc.constantFrom('rc', 'b', 'beta', '', '4', '10-'), count, fc.constantFrom('', '-3-g3f2a1bc'))
    .map(([stage, number, commits]) => `1.4.0-${stage}${number}${commits}`);
  fc.assert(
    fc.property(candidate, candidate, candidate, (a, b, c) => {
      const isOrdered = isOlderRelease(a, b) && isOlderRelease(b, c);
      expect(isOrdered && !isOlderRelease(a, c)).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

test('the order of releases holds for any three', () => {
  const number = fc.integer({ min: 0, max: 30 }).map(String);
  const version = fc.oneof(
    fc.array(number, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.')),
    number.map((text) => `v${text}`),
    fc.tuple(number, number).map(([minor, candidate]) => `1.${minor}-rc.${candidate}`),
    fc.integer({ min: 10, max: 28 }).map((day) => `202402${day}`),
  );
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(isOlderRelease(a, b) && isOlderRelease(b, a)).toBe(false);
      if (isOlderRelease(a, b) && isOlderRelease(b, c)) return isOlderRelease(a, c);
      return true;
    }),
  );
});
