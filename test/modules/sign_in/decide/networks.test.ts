import { expect, test } from 'vitest';

import { isWithin, parseNetwork } from '#modules/sign_in/decide/networks.ts';

test.each([
  ['192.0.2.7', '192.0.2.7/32'],
  [' 192.0.2.7/24 ', '192.0.2.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::1/32', '2001:db8::/32'],
  ['::ffff:192.0.2.7', '192.0.2.7/32'],
])('%s is spelt as %s', (text, network) => {
  expect(parseNetwork(text)).toBe(network);
});

test.each([
  '',
  'example.com',
  '192.0.2.7/33',
  '192.0.2.7/-1',
  '192.0.2.7/',
  '192.0.2',
  '010.0.0.1',
  '1/8',
  '::/129',
  '1.2.3.4/8/8',
])('%s is no network', (text) => {
  expect(parseNetwork(text)).toBeNull();
});

test('an address is compared with networks of its own family, however it is spelt', () => {
  expect(isWithin('10.1.2.3', ['10.0.0.0/8'])).toBe(true);
  expect(isWithin('::ffff:10.1.2.3', ['10.0.0.0/8'])).toBe(true);
  expect(isWithin('11.1.2.3', ['10.0.0.0/8', '2001:db8::/32'])).toBe(false);
  expect(isWithin('2001:db8:1::7', ['10.0.0.0/8', '2001:db8::/32'])).toBe(true);
  expect(isWithin('2001:db9::7', ['2001:db8::/32'])).toBe(false);
  expect(isWithin('::7', ['0.0.0.0/0'])).toBe(false);
  expect(isWithin(null, ['0.0.0.0/0'])).toBe(false);
  expect(isWithin(null, null)).toBe(true);
});
