import fc, { countedPart, slowRuns } from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { maskUnique, maskVariables } from '#modules/exceptions/decide/masking.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';

test.each([
  ['order 17 of bob@example.com failed', 'order <number> of <email> failed'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <ip>:<number>'],
  ['bound to fe80::1%eth0, ::1 and 2001:db8:0:0:0:0:0:1', 'bound to <ip>, <ip> and <ip>'],
  ['Foo::Bar and a::b are names', 'Foo::Bar and a::b are names'],
  ['7F3A1C22-1111-2222-3333-444455556666 is gone', '<uuid> is gone'],
  ['trace 4bf92f3577b34da6a3ce929d0e0e4736 of deadbeef', 'trace <hex> of deadbeef'],
  ['<Cart object at 0x7fc90bfbb310>, Object@1a2b3c4d', '<Cart object at <hex>>, Object@<hex>'],
  ['at 2026-11-21T10:44:30.813017538Z or 2026-11-21 10:44:30', 'at <date> or <date>'],
  ['Sat, 21 Nov 2026 10:00:00 GMT, 11/21/2026, 10:44:30.813', '<date>, <date>, <date>'],
  ['took 1.5s, 30 ms, 1m30.5s and 10 minutes', 'took <duration>, <duration>, <duration> and <duration>'],
  ['open /var/lib/shop/a.txt: no such file', 'open <path>: no such file'],
  ['C:\\Program Files\\shop\\a.txt, ./b/c.js and ~/d.py', '<path>, <path> and <path>'],
  ['GET /api/users/12/orders failed', 'GET /api/users/<number>/orders failed'],
  ['see https://example.com/a?b=1.', 'see <url>.'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc and sk_4eC39HqLyjWDarjtT1zdp7dc', '<token> and <token>'],
  ['v1.2.3 costs 3.14 or -5 or 1,234,567', '<version> costs <number> or <number> or <number>'],
  ['utf8 over http2 with sha256', 'utf8 over http2 with sha256'],
  ['missing-1, table_2024, user12345, #9 [3]', 'missing-<number>, table_<number>, user<number>, #<number> [<number>]'],
  ['[02/Jan/2026:03:04:05 +0000] 00:1a:2b:3c:4d:5e', '[<date>] <hex>'],
  ['waited PT1H30M or P3DT0.5S, P1 is the priority', 'waited <duration> or <duration>, P1 is the priority'],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV and cjld2cjxh0000qzrmn831i7rn', '<token> and <token>'],
  ['V1StGXR8_Z5jdHi6B-myT and 2fT6Zpt0QrVxbNmA8kLs are gone', '<token> and <token> are gone'],
  ['tz4a98xxat96iws9zmbrgj3a is gone', '<token> is gone'],
  ['pod checkout-7d4b9c6f5d-x2x8k of shop/api-6b7f8c9d4-zxkqp', 'pod checkout-<hex> of shop/api-<hex>'],
  ['node-exporter-x2x8k is evicted', 'node-exporter-<hex> is evicted'],
  ['getUserByOauth2Token in sha256Encoder of grpc-http2', 'getUserByOauth2Token in sha256Encoder of grpc-http2'],
  ['text-light-brown of db-query-plans', 'text-light-brown of db-query-plans'],
  ['it broke in 5 ways', 'it broke in <number> ways'],
  ['', ''],
])('%j reads %j', (text, masked) => {
  expect(maskVariables(text)).toBe(masked);
});

test('for a title only what is unique to one occurrence is masked', () => {
  expect(maskUnique('500 from 10.0.0.1:5432 in 30ms for bob@example.com')).toBe(
    '500 from 10.0.0.1:5432 in 30ms for <email>',
  );
  expect(maskUnique('0x80070005 at 0x7fc90bfbb310')).toBe('0x80070005 at <hex>');
  expect(maskUnique('GET https://a.example/7f3a1c22-1111-2222-3333-444455556666')).toBe('GET https://a.example/<uuid>');
});

const fragments = fc.constantFrom(
  '1',
  '12',
  '1.5',
  '-',
  '+',
  '.',
  ',',
  ':',
  '/',
  '\\',
  '@',
  ' ',
  '_',
  '<',
  '>',
  '<number>',
  '<*>',
  'a',
  'Z',
  'x9',
  'ff',
  'deadbeef1',
  '0x',
  '::',
  'T',
  'ms',
  '2026-11-21',
  '10:44:30',
  'Nov',
  'a@b.co',
  'https://',
  'C:\\',
  '/var/',
  '.js',
  'eyJ',
  '7f3a1c22-1111-2222-3333-444455556666',
  'é',
  '\n',
  '%',
  '~',
);
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join('')),
);

test('masking what is masked changes nothing', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(maskVariables(maskVariables(text))).toBe(maskVariables(text));
      expect(maskUnique(maskUnique(text))).toBe(maskUnique(text));
    }),
    { numRuns: slowRuns(6_000) },
  );
});

test('masking takes work linear in the text, whatever it is made of', async () => {
  expect(await beyondLinear(import.meta.resolve('./masking_workloads.ts'), 800, countedPart(3))).toEqual([]);
});
