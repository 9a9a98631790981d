import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { Redis } from 'ioredis';

import { findFreePort } from '#infra/embedded/free_port.ts';

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The machine's Redis on a port and folder of its own, keeping every write as production must; null without one. */
export async function startRedis(folder: string): Promise<RedisServer | null> {
  const port = await findFreePort(0);
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  const server = spawn('redis-server', [...settings, '--maxmemory-policy', 'noeviction'], { stdio: 'ignore' });
  const failed = new Promise<true>((resolve) => {
    server.once('error', () => resolve(true));
  });
  const isMissing = await Promise.race([failed, once(server, 'spawn').then(() => false)]);
  if (isMissing) return null;
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => {});
  await client.ping();
  client.disconnect();
  return {
    url,
    async stop() {
      const gone = once(server, 'exit');
      server.kill('SIGTERM');
      await gone;
    },
  };
}
