import { afterEach, expect, test, vi } from 'vitest';

import { canRunWith } from '#test/kit/programs/debian_packages.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('tests run with their package, are skipped with a sentence without it, and fail where it is required', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.stubEnv('REQUIRED_PACKAGES', '');
  expect([canRunWith('chromium', true), canRunWith('chromium', false)]).toEqual([true, false]);
  expect(log.mock.calls).toEqual([
    ['Tests are skipped because the Debian package chromium is missing. Install it with: apt-get install chromium'],
  ]);
  vi.stubEnv('REQUIRED_PACKAGES', 'prometheus chromium');
  expect(canRunWith('chromium', true)).toBe(true);
  expect(() => canRunWith('chromium', false)).toThrow(
    'These tests need the Debian package chromium, which is missing. Install it with: apt-get install chromium',
  );
  expect(canRunWith('redis-server', false)).toBe(false);
});
