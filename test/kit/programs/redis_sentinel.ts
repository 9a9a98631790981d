import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';

const MASTER = 'tocsin';
const SENTINELS = 3;

export interface RedisWithSentinels {
  /** URL as `REDIS_URL` names it. */
  readonly url: string;
  /** Kills the master at once. */
  killMaster(): Promise<void>;
  /** The port of the master that the Sentinels name. */
  masterPort(): Promise<number>;
}

/** A master, a replica and three Sentinels that watch them, until the test ends. */
export async function startRedisWithSentinels(): Promise<RedisWithSentinels> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-sentinel-'));
  const started: ChildProcess[] = [];
  onTestFinished(async () => {
    const running = started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    await Promise.all(
      running.map(async (server) => {
        const gone = once(server, 'exit');
        server.kill('SIGKILL');
        await gone;
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (name: string, config: readonly string[], ...args: string[]): ChildProcess => {
    const dir = path.join(folder, name);
    mkdirSync(dir);
    const file = path.join(dir, 'redis.conf');
    writeFileSync(file, ['bind 127.0.0.1', `dir ${dir}`, 'save ""', ...config, ''].join('\n'));
    const server = spawn('redis-server', [file, ...args], { stdio: 'ignore' });
    started.push(server);
    return server;
  };
  const [masterPort, replicaPort] = [await findFreePort(0), await findFreePort(0)];
  const keeping = ['maxmemory-policy noeviction', 'appendonly yes'];
  const master = start('master', [`port ${masterPort}`, ...keeping]);
  start('replica', [`port ${replicaPort}`, `replicaof 127.0.0.1 ${masterPort}`, ...keeping]);
  await expect.poll(async () => String(await ask(replicaPort, 'info', 'replication'))).toContain('link_status:up');
  const ports: number[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    const port = await findFreePort(0);
    ports.push(port);
    const watched = [
      `port ${port}`,
      `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${MASTER} 500`,
      `sentinel failover-timeout ${MASTER} 3000`,
    ];
    start(`sentinel-${index}`, watched, '--sentinel');
  }
  const named = async (): Promise<number> => {
    const address = await ask(ports[0] ?? 0, 'sentinel', 'get-master-addr-by-name', MASTER);
    return Array.isArray(address) ? Number(address[1]) : 0;
  };
  for (const port of ports) {
    const others = async () => String(await ask(port, 'sentinel', 'master', MASTER));
    await expect.poll(others).toMatch(/num-slaves,1,num-other-sentinels,2,/);
  }
  return {
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${MASTER}`,
    async killMaster() {
      const gone = once(master, 'exit');
      master.kill('SIGKILL');
      await gone;
    },
    masterPort: named,
  };
}

/** Null when nobody answers yet. */
async function ask(port: number, command: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis({ port, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } catch {
    return null;
  } finally {
    redis.disconnect();
  }
}
