import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { ChdbServerOptions } from '#chdb_server/chdb_server.ts';

/** A server in a process of its own, on a folder that is removed with it. */
export async function startServer() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'chdb-server-'));
  const options: ChdbServerOptions = {
    dataDir,
    port: 0,
    user: 'tocsin',
    password: 'known-to-the-test',
    memoryBytes: 2 ** 29,
    rowsBytesMax: 2 ** 20,
  };
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const child = fork(path.join(import.meta.dirname, '../main.ts'), { execArgv: [], env });
  child.send(options);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  return {
    url,
    dataDir,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(dataDir, { recursive: true });
    },
  };
}
