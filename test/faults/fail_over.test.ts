import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { migratePostgresAndQueue } from '#entry/migrate.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { hasDebianPostgres, startPostgresPair } from '#test/kit/programs/debian_postgres.ts';
import { startRedisWithSentinels } from '#test/kit/programs/redis_sentinel.ts';
import { ACCEPTED, expectAllThere, LOAD_MS_MAX, watchedWorld } from '#test/kit/load.ts';

describe.skipIf(!canRunWith('redis-server', inject('redisUrl') !== null))(
  'a Redis whose master dies under load',
  () => {
    test('is replaced by its replica, and nothing accepted is lost', async () => {
      const redis = await startRedisWithSentinels();
      const { w, send } = await watchedWorld({ redisUrl: redis.url });
      await send.acceptMore();
      const first = await redis.masterPort();
      await redis.killMaster();
      await expect.poll(() => redis.masterPort(), { timeout: LOAD_MS_MAX }).not.toBe(first);
      await send.acceptMore();
      const accepted = await send.stop();
      expect(accepted).toBeGreaterThanOrEqual(2 * ACCEPTED);
      await expectAllThere(w, accepted);
    }, 240_000);
  },
);

describe.skipIf(!canRunWith('postgresql', hasDebianPostgres))('a PostgreSQL whose primary dies under load', () => {
  test('is replaced by its standby, and nothing accepted is lost', async () => {
    const pair = await startPostgresPair();
    const alias = await startAlias(pair.primaryPort);
    const databaseUrl = `postgres://app@127.0.0.1:${alias.port}/tocsin`;
    await migratePostgresAndQueue({ databaseUrl, redisUrl: undefined });
    const { w, send } = await watchedWorld({ databaseUrl });
    await send.acceptMore();
    await pair.killPrimary();
    // The server answers questions and takes no changes, as after a wrong fail-over.
    alias.moveTo(pair.standbyPort);
    const fault = async () => String((await w.app.inject('/healthz')).json().stores.postgres.error);
    await expect.poll(fault, { timeout: LOAD_MS_MAX }).toMatch(/^PostgreSQL is a standby, which takes no changes/);
    await pair.promote();
    await send.acceptMore();
    const accepted = await send.stop();
    expect(accepted).toBeGreaterThanOrEqual(2 * ACCEPTED);
    await expectAllThere(w, accepted);
  }, 240_000);
});

/** An address that leads to one server and then to another, as a DNS name or a virtual address does. */
async function startAlias(first: number): Promise<{ readonly port: number; moveTo(port: number): void }> {
  let target = first;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(port) {
      target = port;
      for (const socket of open) socket.destroy();
    },
  };
}
