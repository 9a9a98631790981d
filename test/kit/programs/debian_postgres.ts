import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import pg from 'pg';
import { expect, onTestFinished } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';

const run = promisify(execFile);

const LIBRARY = '/usr/lib/postgresql';

const versions = existsSync(LIBRARY) ? readdirSync(LIBRARY).toSorted((a, b) => Number(b) - Number(a)) : [];

/** Folder of the programs of Debian's PostgreSQL; null when none is installed. */
const programs =
  versions.map((version) => path.join(LIBRARY, version, 'bin')).find((bin) => existsSync(path.join(bin, 'initdb'))) ??
  null;

export const hasDebianPostgres = programs !== null;

const ROWS = ['-c', 'fsync=off', '-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1'];

export interface PostgresPair {
  readonly primaryPort: number;
  readonly standbyPort: number;
  /** Kills the primary at once, as a machine that loses power. */
  killPrimary(): Promise<void>;
  /** Makes a primary of the standby. */
  promote(): Promise<void>;
}

/** A primary whose commits wait for its standby, until the test ends. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const bin = programs ?? '';
  const identity = await serverUser();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-pair-'));
  chmodSync(folder, 0o711);
  const [primaryPort, standbyPort] = [await findFreePort(0), await findFreePort(0)];
  const [primaryDir, standbyDir] = ['primary', 'standby'].map((name) => path.join(folder, name)) as [string, string];
  for (const dir of [primaryDir, standbyDir]) {
    mkdirSync(dir, { mode: 0o700 });
    if (identity !== null) chownSync(dir, identity.uid, identity.gid);
  }
  const call = (program: string, ...args: string[]) => run(path.join(bin, program), args, { ...identity, cwd: folder });
  const start = (dir: string, port: number, ...more: string[]) =>
    spawn(path.join(bin, 'postgres'), ['-D', dir, '-p', String(port), ...ROWS, ...more], {
      ...identity,
      cwd: folder,
      stdio: 'ignore',
    });
  await call('initdb', '-D', primaryDir, '-A', 'trust', '-U', 'app', '--no-sync');
  const primary = start(primaryDir, primaryPort);
  const servers = [primary];
  onTestFinished(async () => {
    for (const server of servers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
      const gone = once(server, 'exit');
      server.kill('SIGQUIT');
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const address = `host=127.0.0.1 port=${primaryPort} user=app`;
  await expect.poll(() => ask(primaryPort, 'select 1')).toBeTruthy();
  await ask(primaryPort, 'create database tocsin');
  await call('pg_basebackup', '-D', standbyDir, '-d', address, '-R', '-X', 'stream', '-c', 'fast', '--no-sync');
  servers.push(start(standbyDir, standbyPort));
  await ask(primaryPort, `alter system set synchronous_standby_names = '*'`);
  await ask(primaryPort, 'select pg_reload_conf()');
  const isSynchronous = `select 1 from pg_stat_replication where sync_state in ('sync', 'quorum')`;
  await expect.poll(() => ask(primaryPort, isSynchronous)).toBeTruthy();
  return {
    primaryPort,
    standbyPort,
    async killPrimary() {
      const gone = once(primary, 'exit');
      primary.kill('SIGKILL');
      await gone;
    },
    async promote() {
      // Commits of the new primary wait for nobody.
      await ask(standbyPort, 'select pg_promote()');
      await ask(standbyPort, 'alter system reset synchronous_standby_names');
      await ask(standbyPort, 'select pg_reload_conf()');
    },
  };
}

/** A server with this certificate, until the test ends; its address is without TLS. */
export async function startTlsPostgres(certFile: string, keyFile: string): Promise<string> {
  const identity = await serverUser();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-tls-'));
  chmodSync(folder, 0o711);
  const dir = path.join(folder, 'data');
  const key = path.join(folder, 'server.key');
  mkdirSync(dir, { mode: 0o700 });
  copyFileSync(keyFile, key);
  chmodSync(key, 0o600);
  if (identity !== null) for (const owned of [dir, key]) chownSync(owned, identity.uid, identity.gid);
  const options = { ...identity, cwd: folder };
  await run(path.join(programs ?? '', 'initdb'), ['-D', dir, '-A', 'trust', '-U', 'app', '--no-sync'], options);
  const port = await findFreePort(0);
  const tls = ['-c', 'ssl=on', '-c', `ssl_cert_file=${certFile}`, '-c', `ssl_key_file=${key}`];
  const args = ['-D', dir, '-p', String(port), ...ROWS, ...tls];
  const server = spawn(path.join(programs ?? '', 'postgres'), args, { ...options, stdio: 'ignore' });
  onTestFinished(async () => {
    const gone = once(server, 'exit');
    server.kill('SIGQUIT');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  await expect.poll(() => ask(port, 'select 1')).toBeTruthy();
  return `postgres://app@127.0.0.1:${port}/postgres`;
}

/** PostgreSQL refuses to run as root. */
async function serverUser(): Promise<{ uid: number; gid: number } | null> {
  if (process.getuid?.() !== 0) return null;
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** The first row, or null when there is none or the server does not answer yet. */
async function ask(port: number, sql: string): Promise<object | null> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'app', database: 'postgres' });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<object>(sql)).rows[0] ?? null;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}
