import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { Redis } from 'ioredis';

import { describeEnd } from '#infra/embedded/processes.ts';
import type { Service } from '#infra/embedded/supervisor.ts';

export function isRedisInstalled(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** The machine's Redis with the settings that production needs: every write in a file, and nothing is evicted. */
export function redisService(folder: string, port: number): Service {
  const settings = ['--dir', folder, '--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'];
  return {
    name: 'Redis',
    async start() {
      const log = path.join(folder, 'redis.log');
      const address = ['--port', String(port), '--bind', '127.0.0.1', '--logfile', log];
      const child = spawn('redis-server', [...address, ...settings], { stdio: 'ignore' });
      const exited = once(child, 'exit').then(([code, signal]) =>
        describeEnd(code as number | null, signal as NodeJS.Signals | null),
      );
      await untilItAnswers(port);
      return {
        pid: child.pid ?? 0,
        exited,
        async stop() {
          child.kill('SIGTERM');
          await exited;
        },
        kill: () => void child.kill('SIGKILL'),
      };
    },
  };
}

async function untilItAnswers(port: number): Promise<void> {
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  await client.ping();
  client.disconnect();
}
