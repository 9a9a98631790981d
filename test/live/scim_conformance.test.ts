import path from 'node:path';

import { expect, test } from 'vitest';

import { listeningWorld } from '#test/auth/oauth/listening_world.ts';
import { identityProvider } from '#test/kit/identity_provider.ts';
import { isInstalled, PROGRAMS, run } from '#test/live/program.ts';

/**
 * The public conformance checks of python-scim (`pip install scim2-tester==0.2.8 httpx`; `PYTHONPATH` may name a folder
 * that has them).
 */
const HAS_CHECKS = isInstalled('python3', '-c', 'import scim2_tester, httpx');

/**
 * Checks that want more than the standard: a user is active unless it is said otherwise, members carry the name to
 * display (RFC 7643, 4.2), and a group without members has an empty list of them (RFC 7643, 2.5).
 */
const DEVIATIONS = [
  'User check_remove_attribute active',
  'Group check_add_attribute members',
  'Group check_remove_attribute members',
  'Group check_replace_attribute members',
];

test.skipIf(!HAS_CHECKS)(
  'the checks of scim2-tester succeed, but for those that want more than the standard',
  { timeout: 120_000 },
  async () => {
    const w = await listeningWorld();
    const { token } = await identityProvider(w);
    const program = path.join(PROGRAMS, 'scim_tester.py');
    const { code, stdout, stderr } = await run(['python3', program], {
      SCIM_URL: `${w.baseUrl}/scim/v2`,
      SCIM_TOKEN: token,
    });
    expect(stderr.split('\n').slice(-20).join('\n')).toBe('');
    expect(code).toBe(0);
    const checks = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<'status' | 'title' | 'reason' | 'resource' | 'data', string>);
    expect(checks.length).toBeGreaterThan(40);
    const failed = checks.filter(({ status }) => status !== 'SUCCESS');
    const names = failed.map(
      ({ resource, title, data }) => `${resource} ${title} ${/'urn': '(\w+)'/.exec(data)?.[1] ?? ''}`,
    );
    expect({ names, failed }).toEqual({ names: DEVIATIONS, failed });
  },
);
