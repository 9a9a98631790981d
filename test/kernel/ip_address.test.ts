import { expect, test } from 'vitest';

import { spellAddressOf, spellForwardedAddresses } from '#entry/http/connections/addresses.ts';
import { networkOf, parseIpAddress } from '#kernel/ip_address.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51423', '203.0.113.7'],
  [' "203.0.113.7:1" ', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['[2001:db8::7]:51423', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%25eth0]:80', 'fe80::1'],
  ['"203.0.113.7"', '203.0.113.7'],
  ['::1', '::1'],
  ['unknown', null],
  ['', null],
  ['203.0.113', null],
  ['300.1.1.1', null],
  ['203.0.113.7:123456', null],
  ['example.com:80', null],
  ['a'.repeat(5_000), null],
])('%j is one address, however it is written', (text, address) => {
  expect(parseIpAddress(text)).toBe(address);
});

test('the same client behind a proxy is one network, whatever the port and spelling', () => {
  const spellings = ['203.0.113.9:50001', '203.0.113.9', '::ffff:203.0.113.9'];
  expect(new Set(spellings.map(networkOf))).toEqual(new Set(['203.0.113.9']));
  expect(networkOf('[2001:DB8:1:2::9]:80')).toBe(networkOf('2001:db8:1:2:ffff::1'));
});

test('translated addresses of IPv4 are clients of their own', () => {
  expect(networkOf('64:ff9b::203.0.113.7')).toBe(networkOf('64:FF9B::cb00:7107'));
  expect(networkOf('64:ff9b::203.0.113.7')).not.toBe(networkOf('64:ff9b::203.0.113.8'));
});

test('a proxy that reports by Forwarded alone is understood', () => {
  const of = (headers: Record<string, string>) => {
    spellForwardedAddresses({ headers });
    return headers['x-forwarded-for'];
  };
  expect(of({ forwarded: 'for=203.0.113.7;proto=https;by=10.0.0.1' })).toBe('203.0.113.7');
  expect(of({ forwarded: 'proto=https;For="[2001:DB8::7]:4711", for=unknown' })).toBe('2001:db8::7, unknown');
  expect(of({ forwarded: 'proto=https' })).toBeUndefined();
  expect(of({ forwarded: 'for=192.0.2.1', 'x-forwarded-for': '203.0.113.7:1' })).toBe('203.0.113.7');
});

test('what proxies report and where connections come from is spelt once', () => {
  const request = { headers: { 'x-forwarded-for': '_hidden,203.0.113.7:51423, [2001:DB8::7]:1' } };
  spellForwardedAddresses(request);
  expect(request.headers['x-forwarded-for']).toBe('unknown, 203.0.113.7, 2001:db8::7');
  const socket = { remoteAddress: '::ffff:10.0.0.1' };
  spellAddressOf(socket as never);
  expect(socket.remoteAddress).toBe('10.0.0.1');
});
