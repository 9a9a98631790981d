import { createRequire } from 'node:module';

import { quoteText } from './quoting.ts';

type Handle = { readonly __handle?: never };

/** The functions of chdb's native library that are used here. Its version is pinned. */
interface Addon {
  CreateConnection(path: string, args?: readonly string[]): Handle;
  CloseConnection(connection: Handle): void;
  QueryAsyncConnection(connection: Handle, sql: string, format: string): Promise<Result>;
  StreamQuery(connection: Handle, sql: string, format: string): Handle;
  StreamFetch(stream: Handle): Promise<{ readonly done: boolean; readonly bytes: Buffer; readonly numRows: number }>;
  StreamCancel(stream: Handle): void;
}

export interface Result {
  readonly bytes: Buffer;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** One connection has its own settings and temporary tables, and serves one request; it runs one thing at a time. */
export interface Connection {
  run(sql: string, format?: string): Promise<Result>;
  /**
   * The rows in the chunks in which the engine makes them. Only for formats whose chunks can be put together.
   * Scalar subqueries run before this returns, on the calling thread.
   */
  stream(sql: string, format: string): AsyncGenerator<Buffer>;
  close(): void;
}

/** A process can open one data folder, once. */
export class Engine {
  readonly #addon: Addon;
  readonly #dataDir: string;
  readonly #first: Handle;
  readonly #ownQueries = new Set<Promise<unknown>>();

  /** Opens the folder, creating it on first use. Throws while another process has it open. */
  constructor(dataDir: string, serverSettings: Readonly<Record<string, number | string>>) {
    this.#addon = loadAddon();
    this.#dataDir = dataDir;
    const args = Object.entries(serverSettings).map(([name, value]) => `--${name}=${value}`);
    this.#first = this.#addon.CreateConnection(dataDir, args);
  }

  /** The native calls are used rather than chdb's Session, whose close() waits for the queries of all sessions. */
  connect(): Connection {
    const addon = this.#addon;
    const connection = addon.CreateConnection(this.#dataDir);
    return {
      run: (sql, format = 'TabSeparated') => addon.QueryAsyncConnection(connection, sql, format),
      async *stream(sql, format) {
        const stream = addon.StreamQuery(connection, sql, format);
        try {
          for (;;) {
            const chunk = await addon.StreamFetch(stream);
            if (chunk.done) return;
            yield chunk.bytes;
          }
        } finally {
          addon.StreamCancel(stream);
        }
      },
      close: () => addon.CloseConnection(connection),
    };
  }

  /** Cancels the queries that carry this comment. They end with error 394 at their next check. */
  async killByComment(comment: string): Promise<void> {
    await this.#runOnOwnConnection(`KILL QUERY WHERE Settings['log_comment'] = ${quoteText(comment)} ASYNC`);
  }

  async version(): Promise<string> {
    return (await this.#runOnOwnConnection('SELECT version()')).bytes.toString().trim();
  }

  /** Returns memory that ended queries left with the allocator to the machine. */
  async releaseMemory(): Promise<void> {
    await this.#runOnOwnConnection('SYSTEM JEMALLOC PURGE');
  }

  /** Call it only when every connection is closed: the engine does not survive losing one that is in use. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#ownQueries);
    this.#addon.CloseConnection(this.#first);
  }

  async #runOnOwnConnection(sql: string): Promise<Result> {
    const connection = this.connect();
    const query = connection.run(sql).finally(() => connection.close());
    this.#ownQueries.add(query);
    try {
      return await query;
    } finally {
      this.#ownQueries.delete(query);
    }
  }
}

/** The library's package is a dependency of chdb, not of ours, and is found from there. */
function loadAddon(): Addon {
  const name = `@chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  try {
    return createRequire(import.meta.resolve('chdb'))(name) as Addon;
  } catch (cause) {
    throw new Error(`there is no embedded ClickHouse for this platform (${name}): set CLICKHOUSE_URL`, { cause });
  }
}
