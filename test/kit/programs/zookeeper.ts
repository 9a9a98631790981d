import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { retry } from '#kernel/promises.ts';

const PROGRAM = '/usr/share/zookeeper/bin/zkServer.sh';

export const hasZookeeper = existsSync(PROGRAM);

/** Debian's ZooKeeper, which ClickHouse takes for a Keeper. */
export async function startZookeeper(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const port = await findFreePort(0);
  const dir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-zookeeper-'));
  const file = path.join(dir, 'zoo.cfg');
  const settings = [`clientPort=${port}`, 'clientPortAddress=127.0.0.1', `dataDir=${dir}`, 'tickTime=2000'];
  writeFileSync(file, [...settings, 'admin.enableServer=false', ''].join('\n'));
  const env = { ...process.env, ZOO_LOG_DIR: dir, ZOOPIDFILE: path.join(dir, 'pid') };
  const server = spawn(PROGRAM, ['start-foreground', file], { env, stdio: 'ignore', detached: true });
  // A hook may call this, where `expect.poll` does not run.
  const listen = async (): Promise<void> => {
    if (!(await isListening(port))) throw new Error('ZooKeeper does not listen');
  };
  await retry(listen, { mayRetry: () => true, pauseMs: 50, timeoutMs: 60_000 });
  return {
    port,
    async stop() {
      const gone = once(server, 'exit');
      // The script and the server that it runs.
      process.kill(-(server.pid ?? 0), 'SIGKILL');
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
