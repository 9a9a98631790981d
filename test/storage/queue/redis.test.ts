import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { keyPrefixOf, openRedis, readRedisAddress } from '#storage/queue/redis.ts';
import { cutWay } from '#test/kit/cut_way.ts';

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
  ['redis://:p@ss@cache', { ...PLAIN, kind: 'server', hosts: [{ host: 'cache', port: 6379 }], password: 'p@ss' }],
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
  'redis://host:99999',
  'redis://:pa/ss@host',
])('%s is no address', (url) => {
  expect(readRedisAddress(url)).toBeNull();
});

test('only a cluster needs all keys of a queue on one node', () => {
  expect(keyPrefixOf('redis+cluster://a')).toBe('{bull}');
  expect(keyPrefixOf('redis://a')).toBeUndefined();
});

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('behind a network that loses packets', () => {
  /** A connection over a way that can be cut. */
  async function connect() {
    const way = await cutWay({ host: '127.0.0.1', port: Number(new URL(redisUrl ?? '').port) });
    const behaviour = { lazyConnect: false, enableReadyCheck: true, maxRetriesPerRequest: null };
    const silence = { answerMsMax: 300, waitMsMax: 60_000 };
    const redis = openRedis({ redisUrl: `redis://127.0.0.1:${way.port}` }, { ...behaviour, silence });
    redis.on('error', () => {});
    onTestFinished(() => redis.disconnect());
    expect(await redis.ping()).toBe('PONG');
    return { way, redis };
  }

  test('a connection that owes an answer and says nothing is replaced, and asked again over the new one', async () => {
    const { way, redis } = await connect();
    way.cut();
    expect(await redis.ping()).toBe('PONG');
    expect(way.connections()).toBeGreaterThan(1);
  });

  test('a copy of it, which waits for a job, is not', async () => {
    const { redis } = await connect();
    if (!(redis instanceof Redis)) throw new Error('it is not one server');
    const copy = redis.duplicate();
    copy.on('error', () => {});
    onTestFinished(() => copy.disconnect());
    const id = await copy.client('ID');
    // Redis answers after so many seconds that there is nothing.
    expect(await copy.bzpopmin('a-key-that-nobody-writes', 0.6)).toBeNull();
    expect(await copy.client('ID')).toBe(id);
  });
});
