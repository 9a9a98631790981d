import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import path from 'node:path';

import type { ChdbServerOptions } from '@tocsin/chdb-server';

import { engineEnvironment } from './engine_environment.ts';
import { startNodeChild } from './node_child.ts';
import { copyFolder } from './prepared/copy_folder.ts';
import type { Running } from './supervisor.ts';

export interface ClickHouseOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Password of the user `tocsin`; a random one by default. */
  readonly password?: string;
  /** Memory that the engine may use in all; by default two fifths of the machine's or container's memory. */
  readonly memoryBytes?: number;
  /** Longest body of an insert, after decompression; 256 MiB by default. */
  readonly rowsBytesMax?: number;
  /** Settings of each query that names no others. */
  readonly querySettings?: Readonly<Record<string, number>>;
  /** Store that is copied if there is none yet; null, the default, creates an empty one. */
  readonly prepared?: string | null;
  readonly signal?: AbortSignal;
}

export interface ClickHouse extends Running {
  /** URL with user and password, as `createClient({ url })` takes it. */
  readonly url: string;
}

const USER = 'tocsin';
/** Folder in which the engine keeps everything. */
const STORE = 'store';
const ROWS_BYTES_MAX = 256 * 1024 * 1024;
const MEMORY_SHARE = 0.4;
const MEMORY_BYTES_MIN = 512 * 1024 * 1024;
/** The engine uses Node's thread pool, which files and compression use, too. */
const THREADS = '16';

/**
 * Starts ClickHouse on this folder, which it creates on first use, in a process that listens on 127.0.0.1 only and
 * ends when this one does. Acknowledged rows survive kill -9.
 */
export async function startClickHouse(dataDir: string, options: ClickHouseOptions = {}): Promise<ClickHouse> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const store = path.join(dataDir, STORE);
  if (options.prepared && !existsSync(store)) await copyStore(options.prepared, store);
  const firstMessage: ChdbServerOptions = {
    dataDir: path.resolve(dataDir),
    port: options.port ?? 0,
    user: USER,
    password: options.password ?? randomBytes(24).toString('base64url'),
    memoryBytes: options.memoryBytes ?? memoryShare(),
    rowsBytesMax: options.rowsBytesMax ?? ROWS_BYTES_MAX,
    querySettings: options.querySettings ?? {},
  };
  const child = await startNodeChild(
    {
      entry: createRequire(import.meta.url).resolve('@tocsin/chdb-server/main'),
      env: { ...engineEnvironment(), UV_THREADPOOL_SIZE: THREADS },
      memory: 'frugal',
      firstMessage,
      log: path.join(dataDir, 'clickhouse.log'),
    },
    options.signal,
  );
  const { message, ...running } = child;
  if (message.url === undefined) throw new Error('ClickHouse did not say where it listens');
  return { ...running, url: message.url };
}

/** A killed copy never leaves half a store: it is made beside, and then renamed. */
async function copyStore(prepared: string, store: string): Promise<void> {
  const draft = `${store}.draft`;
  rmSync(draft, { recursive: true, force: true });
  await copyFolder(prepared, draft, { folderMode: 0o700, fileMode: 0o600, owner: null, isDurable: true });
  renameSync(draft, store);
}

function memoryShare(): number {
  const limit = process.constrainedMemory();
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(Math.floor(available * MEMORY_SHARE), MEMORY_BYTES_MIN);
}
