/** The public interface of the chdb server: nothing else is imported from outside. `main.ts` runs it as a process. */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Engine } from './engine.ts';
import { ChdbHttpServer } from './http_server.ts';

/** Options of `startChdbServer`, and first message to `main.ts`. */
export interface ChdbServerOptions {
  readonly dataDir: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Memory that the engine may use in all. */
  readonly memoryBytes: number;
  /** Longest body with rows, after decompression. */
  readonly rowsBytesMax: number;
  /** Settings of each query that names no others. */
  readonly querySettings?: Readonly<Record<string, number>>;
  /**
   * A configuration of ClickHouse with the servers of a cluster, for trials: statements may reach those servers, and only
   * those, by `cluster()` and `Distributed` tables.
   */
  readonly configFile?: string;
}

export interface ChdbServer {
  /** URL with user and password, as `createClient({ url })` of `@clickhouse/client` takes it. */
  readonly url: string;
  /** Cancels queries in progress and closes the data folder. */
  stop(): Promise<void>;
}

/** A process of an earlier run may hold the folder for some moments more. */
const OPEN_DEADLINE_MS = 10_000;
const IDLE_THREADS_MAX = 32;
const CACHE_BYTES = 64 * 1024 * 1024;
/** Time between two measurements of the memory that the engine really holds; its default is twenty a second. */
const MEMORY_CHECK_MS = 500;
/**
 * Pause before a table that had nothing to merge is looked at again, when nothing was inserted meanwhile. The engine's
 * own default of 0.1 s costs an idle installation more than half of its processor time.
 */
const IDLE_TABLE_CHECK_SECONDS = 10;

/** Opens the data folder, creating it on first use, and listens on 127.0.0.1. A process can do this once. */
export async function startChdbServer(options: ChdbServerOptions): Promise<ChdbServer> {
  const { dataDir, port, user, password, memoryBytes, rowsBytesMax, querySettings = {}, configFile } = options;
  const spoolDir = path.join(dataDir, 'spool');
  rmSync(spoolDir, { recursive: true, force: true });
  mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  const engine = await open(path.join(dataDir, 'store'), memoryBytes, configFile);
  const queryMemoryBytes = Math.floor(memoryBytes / 2);
  const http = new ChdbHttpServer(engine, {
    user,
    password,
    spoolDir,
    queryMemoryBytes,
    rowsBytesMax,
    querySettings,
    hasCluster: configFile !== undefined,
  });
  const listeningPort = await listen(http, port);
  return {
    url: `http://${user}:${password}@127.0.0.1:${listeningPort}`,
    async stop() {
      await http.stop();
      await engine.close();
    },
  };
}

async function open(store: string, memoryBytes: number, configFile: string | undefined): Promise<Engine> {
  const deadline = performance.now() + OPEN_DEADLINE_MS;
  for (;;) {
    try {
      return new Engine(store, {
        max_server_memory_usage: memoryBytes,
        mark_cache_size: CACHE_BYTES,
        // With the engine's own default of 2 a deletion waits for merges, part after part.
        background_pool_size: 8,
        primary_index_cache_size: CACHE_BYTES,
        max_thread_pool_free_size: IDLE_THREADS_MAX,
        memory_worker_period_ms: MEMORY_CHECK_MS,
        background_processing_pool_thread_sleep_seconds_if_nothing_to_do: IDLE_TABLE_CHECK_SECONDS,
        ...(configFile !== undefined && { 'config-file': configFile }),
      });
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(100);
    }
  }
}

function listen(http: ChdbHttpServer, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.server.once('error', reject);
    http.server.listen(port, '127.0.0.1', () => {
      const address = http.server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
