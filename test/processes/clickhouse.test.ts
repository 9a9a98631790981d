import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { findProcess } from '#infra/embedded/processes.ts';

const log = { level: ClickHouseLogLevel.OFF };

describe('the process', () => {
  test('keeps acknowledged rows through kill -9 and comes back at the same address', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'clickhouse-'));
    const first = await startClickHouse(folder);
    const rows = createClient({ url: first.url, log });
    await rows.command({ query: 'CREATE TABLE kept (id UInt32) ENGINE = MergeTree ORDER BY id' });
    for (let id = 0; id < 20; id += 1) await rows.insert({ table: 'kept', values: [{ id }], format: 'JSONEachRow' });
    first.kill();
    expect(await first.exited).toBe('killed by SIGKILL');
    const { port, password } = new URL(first.url);
    const second = await startClickHouse(folder, { port: Number(port), password });
    expect(second.url).toBe(first.url);
    const answer = await rows.query({ query: 'SELECT count() AS count FROM kept', format: 'JSONEachRow' });
    expect(await answer.json()).toEqual([{ count: 20 }]);
    await rows.close();
    await second.stop();
    expect(await second.exited).toBe('exit code 0');
    await rm(folder, { recursive: true });
  });

  test('has no variable of ours that is secret', async () => {
    vi.stubEnv('METRICS_TOKEN', 'secret of the metrics');
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = await mkdtemp(path.join(tmpdir(), 'clickhouse-'));
    const engine = await startClickHouse(folder);
    const environment = await readFile(`/proc/${engine.pid}/environ`, 'utf8');
    await engine.stop();
    await rm(folder, { recursive: true });
    expect(environment).not.toMatch(/secret of/);
    expect(environment).toContain('PATH=');
  });

  test('ends with its parent, and the next one waits for the folder', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'clickhouse-'));
    const program = `import { startClickHouse } from '#infra/embedded/clickhouse.ts';
      console.log((await startClickHouse(${JSON.stringify(folder)})).pid);
      process.kill(process.pid, 'SIGKILL');`;
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
    const pid = Number(await text(parent.stdout));
    const next = await startClickHouse(folder);
    expect(findProcess(pid)).toBeNull();
    await next.stop();
    await rm(folder, { recursive: true });
  });

  test('stops while a query runs that would take hours', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'clickhouse-'));
    const busy = await startClickHouse(folder);
    const plain = createClient({ url: busy.url, log });
    const query = plain.query({ query: 'SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1' });
    const ended = query.then(
      () => 'an answer',
      (error: Error) => error.message,
    );
    const running = async () => {
      const query = 'SELECT count() AS count FROM system.processes';
      return await (await plain.query({ query, format: 'JSONEachRow' })).json();
    };
    await expect.poll(running).toEqual([{ count: 2 }]);
    await busy.stop();
    expect(await ended).toMatch(/cancelled|aborted|hang up|reset/i);
    await plain.close();
    await rm(folder, { recursive: true });
  });
});
