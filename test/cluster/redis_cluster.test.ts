import { execFileSync } from 'node:child_process';

import { describe, expect, inject, onTestFinished, test } from 'vitest';

import { ACCEPTED, expectAllThere, LOAD_MS_MAX, watchedWorld } from '#test/kit/load.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { startRedisCluster } from '#test/kit/programs/redis_cluster.ts';

/** All keys of the queues are on one master; the others are killed for nothing. */
const KEY_OF_QUEUES = '{bull}:any';

const PROGRAMS = [
  ['redis-server', inject('redisUrl') !== null],
  ['valkey-server', isInstalled('valkey-server')],
] as const;

describe.each(PROGRAMS)('a cluster of %s', (program, isThere) => {
  test.skipIf(!canRunWith(program, isThere))(
    'whose master dies under load loses nothing: its replica takes its place',
    async () => {
      const redis = await startRedisCluster(program);
      onTestFinished(() => redis.stop());
      const { w, send } = await watchedWorld({ redisUrl: redis.url });
      await send.acceptMore();
      const first = await redis.masterOf(KEY_OF_QUEUES);
      const killedAt = performance.now();
      await redis.kill(first);
      await expect
        .poll(() => redis.masterOf(KEY_OF_QUEUES), { timeout: LOAD_MS_MAX })
        .toSatisfy((port: number) => port !== first && port !== 0);
      const failedOverMs = performance.now() - killedAt;
      const isUp = async () => (await w.app.inject('/healthz')).json().stores.queue.status === 'up';
      await expect.poll(isUp, { timeout: LOAD_MS_MAX }).toBe(true);
      const upMs = performance.now() - killedAt;
      await send.acceptMore();
      const accepted = await send.stop();
      expect(accepted).toBeGreaterThanOrEqual(2 * ACCEPTED);
      await expectAllThere(w, accepted);
      const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
      console.log(
        `${program}: ${accepted} accepted, all stored once, 10 incidents of 10; replica promoted after ${seconds(failedOverMs)} s, queue in use after ${seconds(upMs)} s`,
      );
    },
  );
});

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
