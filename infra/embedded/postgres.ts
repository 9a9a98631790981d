import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import { messageOf } from '#kernel/errors.ts';
import { retry } from '#kernel/promises.ts';

import { engineEnvironment } from './engine_environment.ts';
import { describeEnd, findProcess, logEnd, rotateLog, signalProcess, textSince, untilGone } from './processes.ts';
import { copyFolder } from './prepared/copy_folder.ts';
import { assertReachable, findAccount, makePrivateFolder, type Account } from './postgres/account.ts';
import { findBinaries, type Binaries } from './postgres/binaries.ts';
import { socketFolderFor } from './postgres/socket_folder.ts';
import type { Running } from './supervisor.ts';

export interface PostgresOptions {
  /** False is faster and still safe against kill -9, but not against a power failure; for tests. */
  readonly durable?: boolean;
  /** More server settings, as in postgresql.conf. An adopted server keeps those it was started with. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Cluster that is copied if there is none yet; null, the default, creates an empty one. */
  readonly prepared?: string | null;
  readonly signal?: AbortSignal;
}

export interface Postgres extends Running {
  /** The database `tocsin`, for any client that takes an encoded socket path as host. */
  readonly url: string;
  /** True when the server of an earlier run was still running on this folder and is used. */
  readonly adopted: boolean;
}

const USER = 'app';
const DATABASE = 'tocsin';
const PORT = 5432;
const START_DEADLINE_MS = 60_000;
const POLL_MS = 20;
/** Time between two checks of an adopted server, which is no child of ours. */
const WATCH_MS = 250;

/** Settings for a small machine: little memory while idle, no parallel workers for one application on two cores. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '64MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  max_wal_size: '512MB',
  min_wal_size: '128MB',
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  autovacuum_max_workers: '2',
  max_logical_replication_workers: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/** Safe when processes are killed, not when the machine loses power. */
const NOT_DURABLE: Readonly<Record<string, string>> = { fsync: 'off', full_page_writes: 'off' };

interface Cluster {
  readonly root: string;
  readonly data: string;
  readonly socketFolder: string;
  readonly log: string;
  readonly account: Account | null;
  readonly binaries: Binaries;
}

/**
 * Starts PostgreSQL on this folder, which it creates on first use. The server listens on a Unix socket that only
 * its own user and root can reach. It outlives a killed parent, and the next start adopts it.
 */
export async function startPostgres(dataDir: string, options: PostgresOptions = {}): Promise<Postgres> {
  const cluster = await prepareFolders(path.resolve(dataDir));
  if (!existsSync(path.join(cluster.data, 'PG_VERSION'))) await initialize(cluster, options);
  const orphan = await findOrphan(cluster, options);
  const running = orphan ?? (await launch(cluster, options));
  try {
    await createDatabase(cluster);
  } catch (error) {
    await running.stop();
    throw error;
  }
  const url = `postgres://${USER}@${encodeURIComponent(cluster.socketFolder)}:${PORT}/${DATABASE}`;
  return { ...running, url, adopted: orphan !== null };
}

async function prepareFolders(root: string): Promise<Cluster> {
  const account = findAccount();
  const binaries = await findBinaries();
  makePrivateFolder(root, account);
  assertReachable(root, account);
  assertReachable(binaries.postgres, account);
  const log = path.join(root, 'postgres.log');
  rotateLog(log);
  return { root, data: path.join(root, 'data'), socketFolder: socketFolderFor(root, account), log, account, binaries };
}

/**
 * A commit that fills a segment of the write-ahead log waits until the next one is filled with zeros and synced:
 * 60 ms with the default of 16 MB, 4 ms with 1 MB.
 */
const WAL_SEGMENT_MEGABYTES = 1;

/** A killed start never leaves half a cluster: it is made in a temporary folder, which is then renamed. */
async function initialize(cluster: Cluster, options: PostgresOptions): Promise<void> {
  for (const name of readdirSync(cluster.root).filter((entry) => entry.startsWith('data.init-'))) {
    rmSync(path.join(cluster.root, name), { recursive: true, force: true });
  }
  const draft = path.join(cluster.root, `data.init-${process.pid}`);
  if (options.prepared) {
    const owner = cluster.account;
    await copyFolder(options.prepared, draft, {
      folderMode: 0o700,
      fileMode: 0o600,
      owner,
      isDurable: options.durable !== false,
    });
  } else {
    await runInitdb(cluster, draft, options);
  }
  renameSync(draft, cluster.data);
}

async function runInitdb(cluster: Cluster, draft: string, { durable = true, signal }: PostgresOptions): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const access = [`--username=${USER}`, '--auth-local=trust', '--auth-host=reject'];
  const rest = [`--wal-segsize=${WAL_SEGMENT_MEGABYTES}`, ...(durable ? [] : ['--no-sync']), '--no-instructions'];
  const child = spawn(cluster.binaries.initdb, ['-D', draft, ...access, ...locale, ...rest], {
    ...identityOf(cluster.account),
    cwd: cluster.root,
    env: engineEnvironment(),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  let errorText = '';
  child.stderr.on('data', (chunk: Buffer) => (errorText += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`initdb failed (${code ?? 'killed'}): ${errorText.trim()}`);
  }
}

/** The server that a killed parent left behind, once it answers; null when there is none. */
async function findOrphan(cluster: Cluster, options: PostgresOptions): Promise<Running | null> {
  const pid = readPid(path.join(cluster.data, 'postmaster.pid'));
  if (pid === null) return null;
  const deadline = performance.now() + START_DEADLINE_MS;
  while (isServerOf(cluster, pid)) {
    if (await answers(cluster))
      return {
        pid,
        ...controlsOf(
          pid,
          untilGone(pid, WATCH_MS).then(() => 'gone'),
        ),
      };
    options.signal?.throwIfAborted();
    if (performance.now() > deadline)
      throw new Error(`PostgreSQL (pid ${pid}) runs on ${cluster.data} but does not answer`);
    await delay(POLL_MS);
  }
  return null;
}

/**
 * After kill -9 the sessions of the dead server may hold its shared memory for some moments more. PostgreSQL then refuses
 * to start, and the start is tried again.
 */
async function launch(cluster: Cluster, options: PostgresOptions): Promise<Running> {
  const deadline = performance.now() + START_DEADLINE_MS;
  return await retry(() => launchOnce(cluster, options, deadline), {
    mayRetry: (error) => /is still in use|lock file .* already exists/.test(messageOf(error)),
    pauseMs: 100,
    timeoutMs: START_DEADLINE_MS,
  });
}

async function launchOnce(cluster: Cluster, options: PostgresOptions, deadline: number): Promise<Running> {
  clearStaleLocks(cluster);
  const start = logEnd(cluster.log);
  const child = spawnServer(cluster, options);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(describeEnd(code, signal)));
  });
  if (await becomesReady(cluster, child, options, deadline)) {
    const pid = child.pid ?? 0;
    return { pid, ...controlsOf(pid, exited) };
  }
  const how = await exited;
  options.signal?.throwIfAborted();
  throw new Error(`PostgreSQL did not start (${how}), ${cluster.log} says:\n${textSince(cluster.log, start)}`);
}

function spawnServer(cluster: Cluster, { durable = true, settings = {} }: PostgresOptions): ChildProcess {
  const all = { ...SETTINGS, ...(durable ? {} : NOT_DURABLE), ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(cluster.log, 'a', 0o600);
  try {
    return spawn(cluster.binaries.postgres, ['-D', cluster.data, '-k', cluster.socketFolder, ...flags], {
      ...identityOf(cluster.account),
      cwd: cluster.root,
      env: engineEnvironment(),
      detached: true,
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

async function becomesReady(cluster: Cluster, child: ChildProcess, options: PostgresOptions, deadline: number) {
  let failure: unknown;
  child.once('error', (error) => (failure = error));
  while (!(await answers(cluster))) {
    if (failure !== undefined) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if (options.signal?.aborted || performance.now() > deadline) child.kill('SIGQUIT');
    await delay(POLL_MS);
  }
  return child.exitCode === null && child.signalCode === null;
}

/**
 * The lock of a process that is dead, a zombie, or whose pid belongs to another program now would prevent the start. Its
 * pid is replaced by one that cannot exist. The shared memory id stays, so that PostgreSQL still looks for sessions.
 */
function clearStaleLocks(cluster: Cluster): void {
  const locks = [path.join(cluster.data, 'postmaster.pid'), path.join(cluster.socketFolder, `.s.PGSQL.${PORT}.lock`)];
  for (const lock of locks) {
    const pid = readPid(lock);
    if (pid === null || isServerOf(cluster, pid)) continue;
    const [, ...rest] = readFileSync(lock, 'utf8').split('\n');
    writeFileSync(lock, ['4194305', ...rest].join('\n'));
  }
}

function readPid(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function isServerOf(cluster: Cluster, pid: number): boolean {
  return findProcess(pid)?.command.includes(` -D ${cluster.data} `) ?? false;
}

async function answers(cluster: Cluster): Promise<boolean> {
  try {
    await query(cluster, 'select 1');
    return true;
  } catch {
    return false;
  }
}

async function createDatabase(cluster: Cluster): Promise<void> {
  const rows = await query(cluster, `select 1 from pg_database where datname = '${DATABASE}'`);
  if (rows === 0) await query(cluster, `create database ${DATABASE}`);
}

async function query(cluster: Cluster, sql: string): Promise<number> {
  const client = new pg.Client({
    host: cluster.socketFolder,
    port: PORT,
    user: USER,
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 1_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows.length;
  } finally {
    await client.end().catch(() => {});
  }
}

/** SIGINT ends sessions and writes a checkpoint; SIGQUIT ends all at once, and the next start recovers. */
function controlsOf(pid: number, exited: Promise<string>): Omit<Running, 'pid'> {
  return {
    exited,
    async stop() {
      signalProcess(pid, 'SIGINT');
      await untilGone(pid, POLL_MS);
    },
    kill: () => void signalProcess(pid, 'SIGQUIT'),
  };
}

function identityOf(account: Account | null): { uid?: number; gid?: number } {
  return account ? { uid: account.uid, gid: account.gid } : {};
}
