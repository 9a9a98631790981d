import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { describe, expect, inject, onTestFinished, test } from 'vitest';

import type { Config } from '#entry/config.ts';
import { migratePostgresAndQueue } from '#entry/migrate.ts';
import { runningClock } from '#test/kit/clock.ts';
import { canRunWith } from '#test/kit/debian_packages.ts';
import { hasDebianPostgres, startPostgresPair } from '#test/kit/debian_postgres.ts';
import { startRedisWithSentinels } from '#test/kit/redis_sentinel.ts';
import { startRoles } from '#test/kit/roles.ts';
import { type World, world } from '#test/kit/world.ts';

/** Far more than it takes. */
const TIMEOUT_MS = 90_000;
const SEND_EVERY_MS = 25;
/** Events that are accepted before the fail-over, and after it. */
const ACCEPTED = 40;

/** A world with both background roles, whose exceptions open incidents. */
async function watchedWorld(settings: Partial<Config>) {
  const w = await world({ clock: runningClock(), settings });
  const roles = startRoles(w.context);
  onTestFinished(() => roles.stop());
  const { serviceId, dsn } = await w.given.service();
  const config = { minSeverity: 'error' };
  await w.expectOk('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config });
  return { w, send: startLoad(w, dsn) };
}

/** Sends exceptions of ten types without end; what is refused is not sent again. */
function startLoad(w: World, dsn: string) {
  const { pathname, username } = new URL(dsn);
  const over = new AbortController();
  const accepted: number[] = [];
  const loop = async (): Promise<void> => {
    for (let number = 0; !over.signal.aborted; number += 1) {
      const payload = { platform: 'python', exception: { values: [{ type: `Load${number % 10}`, value: 'failed' }] } };
      const answer = await w.app.inject({
        method: 'POST',
        url: `/api${pathname}/store/`,
        headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}` },
        payload,
      });
      if (answer.statusCode === 200) accepted.push(number);
      await pause(SEND_EVERY_MS);
    }
  };
  const running = loop();
  return {
    /** Resolves when so many more have been accepted. */
    async acceptMore(): Promise<void> {
      const wanted = accepted.length + ACCEPTED;
      await expect.poll(() => accepted.length, { timeout: TIMEOUT_MS }).toBeGreaterThanOrEqual(wanted);
    },
    async stop(): Promise<number> {
      over.abort();
      await running;
      return accepted.length;
    },
  };
}

/** All that was accepted is grouped, once, and each group has opened its incident, once. */
async function expectAllThere(w: World, accepted: number): Promise<void> {
  const counted = async () => {
    const { groups } = await w.expectOk('list_exception_groups');
    return (groups as { eventCount: number }[]).reduce((sum, { eventCount }) => sum + eventCount, 0);
  };
  await expect.poll(counted, { timeout: TIMEOUT_MS }).toBe(accepted);
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents).toHaveLength(10);
}

describe.skipIf(!canRunWith('redis-server', inject('redisUrl') !== null))(
  'a Redis whose master dies under load',
  () => {
    test('is replaced by its replica, and nothing accepted is lost', async () => {
      const redis = await startRedisWithSentinels();
      const { w, send } = await watchedWorld({ redisUrl: redis.url });
      await send.acceptMore();
      const first = await redis.masterPort();
      await redis.killMaster();
      await expect.poll(() => redis.masterPort(), { timeout: TIMEOUT_MS }).not.toBe(first);
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
    await pair.promote();
    alias.moveTo(pair.standbyPort);
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
