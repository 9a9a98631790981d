/**
 * The process that owns a ClickHouse data folder. It is started by `infra/embedded/clickhouse.ts`, which sends the
 * greeting over the channel, and it ends with SIGTERM or when that channel breaks.
 */
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { Engine } from './engine.ts';
import { Front } from './front.ts';

export interface Greeting {
  readonly dataDir: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** What the engine may use altogether. */
  readonly memoryBytes: number;
  /** Longest body with rows, unpacked. */
  readonly rowsBytesMax: number;
}

/** A process of an earlier run may take some moments more to let go of the folder. */
const OPEN_DEADLINE_MS = 10_000;
/** Acknowledged rows are on disk, so that an end by force loses nothing. */
const STOP_DEADLINE_MS = 1_800;
const IDLE_THREADS_MAX = 32;
const CACHE_BYTES = 64 * 1024 * 1024;
/** How often the engine looks how much memory it really holds; by itself twenty times a second. */
const MEMORY_LOOK_MS = 500;

process.once('message', (greeting) => {
  run(greeting as Greeting).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
});
process.once('disconnect', () => process.exit(1));
if (!process.connected) {
  console.error('This program is a part of "npm start" and is not run by itself.');
  process.exitCode = 1;
}

async function run({ dataDir, port, user, password, memoryBytes, rowsBytesMax }: Greeting): Promise<void> {
  const spoolDir = path.join(dataDir, 'spool');
  rmSync(spoolDir, { recursive: true, force: true });
  mkdirSync(spoolDir, { recursive: true, mode: 0o700 });
  const engine = await open(path.join(dataDir, 'store'), memoryBytes);
  const front = new Front(engine, {
    user,
    password,
    spoolDir,
    queryMemoryBytes: Math.floor(memoryBytes / 2),
    rowsBytesMax,
  });
  const listeningPort = await listen(front, port);
  stopOnDemand(front, engine);
  process.send?.({ ready: true, url: `http://${user}:${password}@127.0.0.1:${listeningPort}` });
}

async function open(store: string, memoryBytes: number): Promise<Engine> {
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
        memory_worker_period_ms: MEMORY_LOOK_MS,
      });
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(100);
    }
  }
}

function listen(front: Front, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    front.server.once('error', reject);
    front.server.listen(port, '127.0.0.1', () => {
      const address = front.server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function stopOnDemand(front: Front, engine: Engine): void {
  const stop = () => {
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_DEADLINE_MS);
    void front
      .stop()
      .then(() => engine.close())
      .finally(() => process.exit(0));
  };
  process.removeAllListeners('disconnect');
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, stop);
}
