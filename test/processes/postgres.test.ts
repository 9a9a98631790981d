import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import { startPostgres, type Postgres } from '#infra/embedded/postgres.ts';

let parent: string;
let folder: string;
const started: Postgres[] = [];

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'postgres-'));
  chmodSync(parent, 0o711);
  folder = path.join(parent, 'server');
});

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
  rmSync(parent, { recursive: true });
});

async function start(dataDir = folder): Promise<Postgres> {
  const server = await startPostgres(dataDir, { durable: false });
  started.push(server);
  return server;
}

async function ask(server: Postgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const pidFile = () => path.join(folder, 'data/postmaster.pid');

test('a first start creates the database, a later one finds the data', async () => {
  const first = await start();
  expect(first.adopted).toBe(false);
  await ask(first, 'create table kept as select 42 as answer');
  await first.stop();
  expect(await first.exited).toBe('exit code 0');
  const second = await start();
  expect(second.url).toBe(first.url);
  expect(await ask(second, 'select current_database() as name, answer from kept')).toEqual([
    { name: 'tocsin', answer: 42 },
  ]);
});

test('the server has no variable of ours that is secret', async () => {
  vi.stubEnv('TWILIO_AUTH_TOKEN', 'secret of the provider');
  vi.stubEnv('LC_MESSAGES', 'C');
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await start();
  const environment = readFileSync(`/proc/${server.pid}/environ`, 'utf8').split('\0');
  expect(environment.filter((entry) => /secret/i.test(entry))).toEqual([]);
  expect(environment).toContain('LC_MESSAGES=C');
});

test('a server that was killed starts again at once, with its data', async () => {
  const first = await start();
  await ask(first, 'create table kept as select 42 as answer');
  process.kill(first.pid, 'SIGKILL');
  expect(await first.exited).toBe('killed by SIGKILL');
  const second = await start();
  expect(second.adopted).toBe(false);
  expect(await ask(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

test('the server of a killed parent is adopted, watched and stopped', async () => {
  const program = `import { startPostgres } from '#infra/embedded/postgres.ts';
    await startPostgres(${JSON.stringify(folder)}, { durable: false });
    process.kill(process.pid, 'SIGKILL');`;
  await once(spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: 'inherit' }), 'exit');
  const pid = Number(readFileSync(pidFile(), 'utf8').split('\n')[0]);
  const server = await start();
  expect(server).toMatchObject({ adopted: true, pid });
  expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.stop();
  expect(await server.exited).toBe('gone');
  expect(existsSync(pidFile())).toBe(false);
});

test('a lock whose pid now belongs to another program is ignored', async () => {
  const first = await start();
  const lock = readFileSync(pidFile(), 'utf8').split('\n');
  await first.stop();
  writeFileSync(pidFile(), [process.pid, ...lock.slice(1)].join('\n'));
  const second = await start();
  expect(second.adopted).toBe(false);
});

test('a first start that was killed half-way does not prevent the next one', async () => {
  mkdirSync(path.join(folder, 'data.init-1/base'), { recursive: true });
  await start();
  expect(existsSync(path.join(folder, 'data.init-1'))).toBe(false);
});

test('a folder too long for a socket gets a private one elsewhere, and the server is found again there', async () => {
  const long = path.join(parent, 'x'.repeat(120));
  const first = await start(long);
  const again = await start(long);
  expect(again).toMatchObject({ adopted: true, pid: first.pid, url: first.url });
  const socketFolder = decodeURIComponent(new URL(first.url).hostname);
  expect(path.dirname(socketFolder)).toBe(tmpdir());
  await first.stop();
  rmSync(socketFolder, { recursive: true });
});

test('an aborted start leaves no server', async () => {
  await expect(startPostgres(folder, { durable: false, signal: AbortSignal.timeout(1) })).rejects.toThrow(/abort/i);
  expect(existsSync(pidFile())).toBe(false);
  await start();
});

test.runIf(process.getuid?.() === 0)('root is told which folder shuts the server out, and what to do', async () => {
  chmodSync(parent, 0o700);
  await expect(start()).rejects.toThrow(`cannot enter ${parent}: run "chmod o+x ${parent}"`);
});

test('the socket is closed to others', async () => {
  const server = await start();
  const socketFolder = decodeURIComponent(new URL(server.url).hostname);
  const mode = execFileSync('ls', ['-ld', socketFolder], { encoding: 'utf8' }).slice(0, 10);
  expect(mode).toBe('drwx------');
});
