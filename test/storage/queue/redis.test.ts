import { expect, test } from 'vitest';

import { keyPrefixOf, readRedisAddress } from '#storage/queue/redis.ts';

const PLAIN = { username: null, password: null, isEncrypted: false, database: 0, master: '' };

test.each([
  ['redis://127.0.0.1', { ...PLAIN, kind: 'server', hosts: [{ host: '127.0.0.1', port: 6379 }] }],
  [
    'rediss://app:p%40ss@redis.example.com:6380/2',
    {
      ...PLAIN,
      kind: 'server',
      hosts: [{ host: 'redis.example.com', port: 6380 }],
      username: 'app',
      password: 'p@ss',
      isEncrypted: true,
      database: 2,
    },
  ],
  [
    'redis://:secret@[::1]:7000',
    { ...PLAIN, kind: 'server', hosts: [{ host: '::1', port: 7000 }], password: 'secret' },
  ],
  [
    'redis+sentinel://a,b:26380/mymaster/1',
    {
      ...PLAIN,
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
      ],
      master: 'mymaster',
      database: 1,
    },
  ],
  [
    'redis+cluster://a:7000,b',
    {
      ...PLAIN,
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 6379 },
      ],
    },
  ],
])('%s is read', (url, address) => {
  expect(readRedisAddress(url)).toEqual(address);
});

test.each([
  'redis://',
  'redis://a,b',
  'redis+sentinel://a:26379',
  'redis+sentinel://a:b/mymaster',
  'redis://host/many',
  'http://host',
  'redis://a:%zz@host',
])('%s is no address', (url) => {
  expect(readRedisAddress(url)).toBeNull();
});

test('only a cluster needs all keys of a queue on one node', () => {
  expect(keyPrefixOf('redis+cluster://a')).toBe('{bull}');
  expect(keyPrefixOf('redis://a')).toBeUndefined();
});
