import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { findPreflightFaults } from '#entry/preflight.ts';
import { loadConfig } from '#entry/config.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { layoutOf } from '#storage/clickhouse/layout.ts';
import { findStorageFault } from '#storage/clickhouse/storage_check.ts';
import { connectQueue } from '#storage/queue/connection.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { startRedis } from '#test/kit/programs/redis.ts';
import { world } from '#test/kit/world.ts';

describe('/healthz and /readyz', () => {
  test('name a PostgreSQL that takes no changes, and everything works when it takes them again', async () => {
    const w = await world({ jobs: 'real queue' });
    const health = async () => (await w.app.inject('/healthz')).json();
    const database = new URL(w.context.config.databaseUrl).pathname.slice(1);
    const admin = new pg.Client({ connectionString: inject('postgresUrl') });
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query(`alter database ${database} set default_transaction_read_only = on`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
    const reason =
      'PostgreSQL is read-only (default_transaction_read_only): switch that off, or name the primary in DATABASE_URL';
    const tick = async () => {
      w.clock.advance({ seconds: 2 });
      return await health();
    };
    await expect
      .poll(tick)
      .toMatchObject({
        status: 'down',
        stores: { postgres: { status: 'down', error: reason }, queue: { status: 'down', error: reason } },
      });
    const ready = await w.app.inject('/readyz');
    expect(ready.statusCode).toBe(503);
    expect(ready.json().because).toContain(`postgres is down (${reason})`);
    // What is asked of it may be asked again, and is no fault of ours.
    expect(await w.call('create_service', { name: 'checkout' })).toMatchObject({ status: 503 });

    await admin.query(`alter database ${database} reset default_transaction_read_only`);
    // No session is ended: those that are open would stay read-only.
    await expect.poll(async () => (await w.call('create_service', { name: 'checkout' })).status).toBe(200);
    await expect.poll(tick).toMatchObject({ stores: { postgres: { status: 'up' }, queue: { status: 'up' } } });
  });
});

describe.skipIf(!canRunWith('redis-server', inject('redisUrl') !== null))('a Redis that takes no jobs', () => {
  async function givenRedis() {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-redis-'));
    const server = await startRedis(folder);
    const url = server?.url ?? '';
    const redis = new Redis(url);
    redis.on('error', () => {});
    const queue = connectQueue({ databaseUrl: 'postgres://none', redisUrl: url }, { durable: true, poolMax: 1 });
    onTestFinished(async () => {
      redis.disconnect();
      await queue.close();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await queue.ping();
    return { folder, url, redis, queue };
  }

  test.each<[string, string, readonly string[]]>([
    ['is a replica', 'is a replica, which takes no changes: name the master', ['replicaof', '127.0.0.1', '1']],
    ['has no memory left', 'has used all of its memory (maxmemory)', ['config', 'set', 'maxmemory', '1']],
    [
      'misses replicas',
      'has fewer replicas than min-replicas-to-write',
      ['config', 'set', 'min-replicas-to-write', '1'],
    ],
  ])('that %s is named', async (_, says, [command = '', ...args]) => {
    const { redis, queue, url } = await givenRedis();
    await redis.call(command, ...args);
    await expect(queue.ping()).rejects.toThrow(`Redis ${says}`);
    const [fault] = await findPreflightFaults(loadConfig({ REDIS_URL: url }), { listens: false });
    expect(fault).toMatchObject({ mayPass: true, sentence: expect.stringContaining(says) });
  });

  test('that drops keys when its memory is full is refused at the start, and says what to set', async () => {
    const { redis, url } = await givenRedis();
    const faults = async () => await findPreflightFaults(loadConfig({ REDIS_URL: url }), { listens: false });
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await faults(), 'it has no limit').toEqual([]);
    await redis.config('SET', 'maxmemory', '100mb');
    const sentence = expect.stringMatching(
      /drops keys when its memory is full \(allkeys-lru\); set maxmemory-policy noeviction/,
    );
    expect(await faults()).toEqual([expect.objectContaining({ mayPass: false, sentence })]);
  });

  test('whose disk is full is named', async () => {
    const { folder, redis, queue } = await givenRedis();
    await redis.config('SET', 'save', '3600 1');
    // Keeps it from writing a snapshot, as a full disk does.
    rmSync(folder, { recursive: true, force: true });
    await redis.call('bgsave');
    const refused = async () => await queue.ping().then(String, String);
    await expect.poll(refused).toContain('Redis cannot write to its disk, and takes no changes until it can');
    // It would not stop without a snapshot.
    await redis.config('SET', 'save', '');
  });
});

/** Answers by the first of these texts that occurs in the statement; nothing otherwise. */
function clickHouseThat(answers: Readonly<Record<string, readonly unknown[]>>, cluster?: string): ClickHouseClient {
  const query = async ({ query: text }: { query: string }) => {
    const entry = Object.entries(answers).find(([part]) => text.includes(part));
    return { json: async () => entry?.[1] ?? [] };
  };
  return { query, layout: layoutOf(cluster), database: 'events' } as unknown as ClickHouseClient;
}

describe('a ClickHouse that stores nothing', () => {
  const SERVERS = [
    [1, 'a', 9000],
    [1, 'b', 9000],
    [2, 'c', 9000],
    [2, 'd', 9000],
  ];
  const sound = {
    'FROM system.clusters WHERE cluster = {cluster:String}\n': SERVERS,
    'system.one': [[1], [2], [3], [4]],
    'FROM system.tables': [['Distributed']],
  };

  test('nothing is named when all is well', async () => {
    expect(await findStorageFault(clickHouseThat({ 'FROM system.tables': [['ReplacingMergeTree']] }))).toBeNull();
    expect(await findStorageFault(clickHouseThat(sound, 'c'))).toBeNull();
  });

  test('a user who may not look is not taken for a fault', async () => {
    const query = () => Promise.reject(Object.assign(new Error('no'), { type: 'ACCESS_DENIED' }));
    const client = { query, layout: layoutOf(undefined), database: 'events' } as unknown as ClickHouseClient;
    expect(await findStorageFault(client)).toBeNull();
  });

  test.each<[string, object]>([
    ['the disk "default" of ClickHouse is full', { 'system.disks': [['default']] }],
    [
      'shard 2 of the cluster "c" does not answer to the others: start c:9000 or d:9000, or correct remote_servers',
      { 'system.one': [[1], [2]] },
    ],
    [
      'a replica of metric_points_local is read-only: it cannot reach Keeper',
      { 'system.replicas': [['metric_points_local', 1, 2, 2]] },
    ],
    [
      '1 of 2 replicas of metric_points_local are there, which is no majority: nothing is stored until more are',
      { 'system.replicas': [['metric_points_local', 0, 1, 2]] },
    ],
  ])('"%s" is said', async (says, broken) => {
    const client = clickHouseThat({ ...broken, ...sound, ...broken }, 'c');
    expect(await findStorageFault(client)).toContain(says);
  });
});
