import { expect, test } from 'vitest';

import { spellForwardedAddresses, watchForwardedAddresses } from '#entry/http/connections/addresses.ts';
import { silentLog } from '#kernel/log.ts';

test('each network that reports clients without being trusted is warned of once, and few in all', () => {
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: ({ address }: Record<string, unknown>) => void warned.push(address) };
  const note = watchForwardedAddresses(log, '10.0.0.0/8');
  const from = (remoteAddress: string, isForwarded = true) =>
    note({ headers: isForwarded ? { 'x-forwarded-for': '192.0.2.7' } : {}, socket: { remoteAddress } as never });
  for (const address of ['10.1.2.3', '172.16.0.1', '172.16.0.1']) from(address);
  from('172.16.0.2', false);
  expect(warned).toEqual(['172.16.0.1']);
  for (let index = 0; index < 20; index += 1) from(`192.0.2.${index}`);
  expect(warned).toHaveLength(5);
});

test.each([
  [{ 'x-forwarded-for': '203.0.113.7:51423, [2001:DB8::7]:443' }, '203.0.113.7, 2001:db8::7'],
  [{ 'x-forwarded-for': '_hidden17, unknown, 203.0.113.7:999999' }, 'unknown, unknown, unknown'],
  [{ forwarded: 'for=_hidden17;proto=https, For="[2001:db8::17]:4711"' }, 'unknown, 2001:db8::17'],
])('addresses that proxies report as %j count as %s', (headers, spelt) => {
  const request = { headers: { ...headers } as Record<string, string> };
  spellForwardedAddresses(request);
  expect(request.headers['x-forwarded-for']).toBe(spelt);
});
