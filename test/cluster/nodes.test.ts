import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';

/** ClickHouse's engine behind HTTP, as one of two servers that have the same; the password is the same, too. */
async function startNode(): Promise<{ readonly host: string; readonly child: ChildProcess }> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-node-'));
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const child = fork(path.resolve('infra/embedded/chdb_server/main.ts'), { execArgv: [], env });
  child.send({ dataDir, port: 0, user: 'u', password: 'p', memoryBytes: 2 ** 30, rowsBytesMax: 2 ** 20 });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { host: new URL(url).host, child };
}

test.each([
  ['killed', 'SIGKILL'],
  ['frozen', 'SIGSTOP'],
] as const)('reads go on when one of two servers is %s', async (how, signal) => {
  const nodes = [await startNode(), await startNode()];
  const client = openClickHouse({ clickhouseUrl: `http://u:p@${nodes.map(({ host }) => host).join(',')}` });
  onTestFinished(() => client.close());
  const ask = async (): Promise<number> => {
    const began = performance.now();
    const result = await client.query({ query: 'SELECT 1', format: 'JSONCompactEachRow' });
    expect(await result.json()).toEqual([[1]]);
    return performance.now() - began;
  };
  await ask();
  // Whichever it prefers.
  for (const { child } of nodes) {
    const slowest: number[] = [];
    child.kill(signal);
    for (let time = 0; time < 20; time += 1) slowest.push(await ask());
    console.log(`one of two servers ${how}: the slowest of 20 reads took ${Math.round(Math.max(...slowest))} ms`);
    if (signal === 'SIGKILL') break;
    child.kill('SIGCONT');
  }
});
