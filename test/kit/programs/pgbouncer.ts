import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import pg from 'pg';
import { expect, onTestFinished } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

export const hasPgbouncer = existsSync(PROGRAM);

interface PoolerOptions {
  readonly mode?: 'transaction' | 'session';
  /** Settings at the beginning of a session that it ignores; it refuses any other setting that it does not know. */
  readonly ignored?: readonly string[];
}

/** Starts Debian's pgbouncer in front of this server, until the test ends; returns its address. */
export async function startPgbouncer(
  databaseUrl: string,
  { mode = 'transaction', ignored = [] }: PoolerOptions = {},
): Promise<string> {
  const server = new URL(databaseUrl);
  const port = await findFreePort(0);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-pgbouncer-'));
  chmodSync(folder, 0o711);
  const file = path.join(folder, 'pgbouncer.ini');
  const users = path.join(folder, 'users.txt');
  writeFileSync(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`, { mode: 0o644 });
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${decodeURIComponent(server.hostname)} port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      `pool_mode = ${mode}`,
      ...(ignored.length === 0 ? [] : [`ignore_startup_parameters = ${ignored.join(',')}`]),
      'default_pool_size = 4',
      'auth_type = trust',
      `auth_file = ${users}`,
      '',
    ].join('\n'),
    { mode: 0o644 },
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const pooler = spawn(PROGRAM, ['-q', ...user, file], { stdio: 'ignore' });
  onTestFinished(async () => {
    const gone = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const pooled = new URL(`postgres://${server.username}@127.0.0.1:${port}${server.pathname}`);
  await expect.poll(() => canConnect(pooled.toString())).toBe(true);
  return pooled.toString();
}

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
