import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { Redis } from 'ioredis';
import { expect } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';

const run = promisify(execFile);

const MASTERS = 3;

export interface RedisCluster {
  /** URL as `REDIS_URL` names it, with the masters at the beginning. */
  readonly url: string;
  /** The master that has this key. */
  masterOf(key: string): Promise<number>;
  /** Kills the server on this port at once. */
  kill(port: number): Promise<void>;
  stop(): Promise<void>;
}

/** Three masters, each with a replica that takes its place when it is gone for a second. */
export async function startRedisCluster(program = 'redis-server'): Promise<RedisCluster> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-redis-cluster-'));
  const servers = new Map<number, ChildProcess>();
  for (let index = 0; index < 2 * MASTERS; index += 1) {
    const port = await findFreePort(0);
    // Nodes speak with each other on a port of their own.
    const busPort = await findFreePort(0);
    const dir = path.join(folder, String(port));
    mkdirSync(dir);
    const settings = {
      port,
      bind: '127.0.0.1',
      dir,
      save: '',
      appendonly: 'yes',
      'maxmemory-policy': 'noeviction',
      'cluster-enabled': 'yes',
      'cluster-port': busPort,
      'cluster-node-timeout': 1_000,
      'repl-diskless-sync-delay': 0,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    servers.set(port, spawn(program, args, { stdio: 'ignore' }));
  }
  const ports = [...servers.keys()];
  for (const port of ports) await expect.poll(() => ask(port, 'ping')).toBe('PONG');
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes']);
  for (const port of ports) {
    await expect.poll(async () => String(await ask(port, 'cluster', 'info'))).toContain('cluster_state:ok');
    // A replica that never had its master's data does not take its place.
    const role = async () => String(await ask(port, 'info', 'replication'));
    await expect.poll(role).toMatch(/role:master|master_link_status:up/);
  }
  const kill = async (port: number): Promise<void> => {
    const server = servers.get(port);
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  };
  return {
    url: `redis+cluster://${hosts.slice(0, MASTERS).join(',')}`,
    async masterOf(key) {
      for (const port of ports) {
        const slot = Number(await ask(port, 'cluster', 'keyslot', key));
        const ranges = await ask(port, 'cluster', 'slots');
        if (!Array.isArray(ranges)) continue;
        const range = (ranges as [number, number, [string, number]][]).find(([from, to]) => from <= slot && slot <= to);
        if (range !== undefined) return range[2][1];
      }
      return 0;
    },
    kill,
    async stop() {
      await Promise.all(ports.map(kill));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Null when nobody answers. */
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
