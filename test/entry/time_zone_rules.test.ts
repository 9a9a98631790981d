import { expect, test } from 'vitest';

import { versionText } from '#entry/cli/version.ts';
import { findOldRules, readTimeZoneRules } from '#entry/time_zone_rules.ts';

test.each([
  ['2026c', null],
  ['2026c', '2025b'],
  ['2026c', '2026c'],
])('rules of release %s are as good as those of a machine with %s', (used, machine) => {
  expect(findOldRules({ used, machine })).toBeNull();
});

test.each(['2026d', '2027a'])('a machine with release %s has newer rules, which is told with what to do', (machine) => {
  expect(findOldRules({ used: '2026c', machine })).toMatch(
    new RegExp(`^time zone rules are of release 2026c, and this machine has ${machine}: .*Upgrade`),
  );
});

test('the version names the rules in use', () => {
  const { used } = readTimeZoneRules();
  expect(used).toMatch(/^\d{4}[a-z]$/);
  expect(versionText([])).toContain(`(time zone rules ${used})`);
  expect(JSON.parse(versionText(['--json']))).toMatchObject({ timeZoneRules: used });
});
