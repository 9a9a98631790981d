import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';
import pLimit, { type LimitFunction } from 'p-limit';

import { NOTHING_DONE, sendChunks, sendFailure, sendWhole } from './answer.ts';
import type { Connection, Engine } from './engine.ts';
import { ClickHouseFailure, toFailure } from './failure.ts';
import { quoteText } from './quoting.ts';
import { notImplemented, preludeOf, type QueryContext, readContext } from './request.ts';
import { refuseSources } from './sources.ts';
import { parseStatement, type Statement } from './statement.ts';

export interface HttpServerOptions {
  readonly user: string;
  readonly password: string;
  /** A private folder for the rows of inserts in progress. */
  readonly spoolDir: string;
  readonly queryMemoryBytes: number;
  /** Longest body with rows, unpacked. */
  readonly rowsBytesMax: number;
  /** Settings of each query that names no others. */
  readonly querySettings: Readonly<Record<string, number>>;
  /** Whether statements may reach the servers of a configured cluster. */
  readonly hasCluster: boolean;
}

/** Fewer than the threads of Node's pool: files, compression and the cancelling of queries need some too. */
const CONCURRENT_QUERIES_MAX = 12;
/** Limit on those of a setting `priority` from `LOW_PRIORITY` on, so that they leave room for others however long they take. */
const CONCURRENT_LOW_MAX = 6;
const LOW_PRIORITY = 10;
/** A result that cannot be streamed is held in memory several times over by the engine. */
const WHOLE_RESULT_BYTES_MAX = 64 * 1024 * 1024;
const HEADER_BYTES_MAX = 1024 * 1024;
const KEEP_ALIVE_MS = 65_000;
const KILL_AGAIN_MS = 250;
const RELEASE_MEMORY_AFTER_MS = 3_000;

/** chdb has the defaults of a command-line tool; these are a server's. */
const AS_ON_A_SERVER = { implicit_select: 0, allow_introspection_functions: 0 };

/** Formats written row by row: the chunks of a stream, put together, are the whole result. */
const FORMATS_TO_STREAM = new Set([
  'CSV',
  'JSONCompactEachRow',
  'JSONCompactStringsEachRow',
  'JSONEachRow',
  'JSONStringsEachRow',
  'NDJSON',
  'RowBinary',
  'TabSeparated',
  'TabSeparatedRaw',
  'TSV',
  'TSVRaw',
]);

type Insert = Extract<Statement, { kind: 'insert_rows' }>;
type Query = Extract<Statement, { kind: 'query' }>;

/** The part of ClickHouse's HTTP interface that its official client uses, over an engine in this process. */
export class ChdbHttpServer {
  readonly server: http.Server;
  readonly #engine: Engine;
  readonly #options: HttpServerOptions;
  readonly #credentials: Buffer;
  readonly #limitQueries = pLimit(CONCURRENT_QUERIES_MAX);
  readonly #limitLow = pLimit(CONCURRENT_LOW_MAX);
  readonly #insertsOfTable = new Map<string, LimitFunction>();
  readonly #running = new Map<string, { readonly abort: AbortController; readonly ended: Promise<void> }>();
  #releaseTimer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(engine: Engine, options: HttpServerOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#credentials = digest(`${options.user}:${options.password}`);
    this.server = http.createServer(
      { maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: KEEP_ALIVE_MS },
      (req, res) => {
        void this.#serve(req, res);
      },
    );
  }

  /** Accepts no more requests, cancels those in progress, and resolves when the engine has ended them all. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#releaseTimer);
    this.server.close();
    const ends = [...this.#running.values()].map(({ abort, ended }) => {
      abort.abort();
      return ended;
    });
    await Promise.all(ends);
    this.server.closeAllConnections();
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let queryId: string | null = null;
    try {
      const url = new URL(req.url ?? '/', 'http://localhost');
      if (url.pathname === '/ping') return void res.end('Ok.\n');
      if (!this.#isAuthorized(req)) throw authenticationFailed();
      if (this.#isStopping) throw new ClickHouseFailure(236, 'ABORTED', 'The server is shutting down');
      if (url.pathname !== '/') throw notImplemented(`the path ${url.pathname}`);
      const context = readContext(url.searchParams, req.headers);
      queryId = context.queryId;
      await this.#register(req, res, context);
    } catch (error) {
      sendFailure(res, toFailure(error), queryId);
    } finally {
      req.resume();
    }
  }

  #isAuthorized(req: IncomingMessage): boolean {
    const [scheme, encoded = ''] = (req.headers.authorization ?? '').split(' ');
    const given = Buffer.from(encoded, 'base64').toString();
    return timingSafeEqual(digest(given), this.#credentials) && scheme?.toLowerCase() === 'basic';
  }

  /** Ids are unique among the queries in progress, as on a server: a query is cancelled by its id. */
  async #register(req: IncomingMessage, res: ServerResponse, context: QueryContext): Promise<void> {
    if (this.#running.has(context.queryId)) {
      const message = `Query with id = ${context.queryId} is already running.`;
      throw new ClickHouseFailure(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', message);
    }
    const abort = new AbortController();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    res.once('close', () => {
      if (!res.writableFinished) abort.abort();
    });
    this.#running.set(context.queryId, { abort, ended });
    clearTimeout(this.#releaseTimer);
    try {
      await this.#execute(req, res, context, abort.signal);
    } finally {
      this.#running.delete(context.queryId);
      if (this.#running.size === 0) this.#releaseMemorySoon();
      end();
    }
  }

  /** The rows are read before the query counts as running, so that a slow sender delays nobody else. */
  async #execute(req: IncomingMessage, res: ServerResponse, context: QueryContext, signal: AbortSignal): Promise<void> {
    const fromUrl = context.sqlInUrl === '' ? null : parseStatement(context.sqlInUrl);
    if (fromUrl?.kind === 'insert_rows') {
      return this.#insert(res, context, fromUrl, readUnpacked(req, this.#options.rowsBytesMax), signal);
    }
    const parameters = new Map(context.settings);
    const text = await readText(req, (name, value) => parameters.set(name, value));
    if (fromUrl && text.trim() !== '') throw notImplemented('a body for a statement that takes no rows');
    const statement = fromUrl ?? parseStatement(text);
    const completed = { ...context, settings: parameters };
    if (statement.kind === 'insert_rows') return this.#insert(res, completed, statement, [], signal);
    return this.#query(res, completed, statement, signal);
  }

  async #insert(
    res: ServerResponse,
    context: QueryContext,
    { target, settings, format, rows }: Insert,
    rowsInBody: AsyncIterable<Buffer> | readonly Buffer[],
    signal: AbortSignal,
  ): Promise<void> {
    refuseSources(`${target} ${settings}`, new Map(), this.#options);
    const summary = await withRowsFile(this.#options.spoolDir, rows, rowsInBody, async (file, isEmpty) => {
      if (isEmpty) return NOTHING_DONE;
      const sql = `${target} FROM INFILE ${quoteText(file)} ${settings} FORMAT ${format}`;
      const insert = async (connection: Connection) => {
        const { rowsRead, bytesRead } = await connection.run(sql).catch((error: unknown) => {
          throw withoutPath(error, file);
        });
        return { readRows: rowsRead, readBytes: bytesRead, writtenRows: rowsRead, writtenBytes: bytesRead };
      };
      return this.#limitInserts(target)(() => this.#withConnection(context, signal, {}, insert));
    });
    await sendWhole(res, context, Buffer.alloc(0), summary);
  }

  /**
   * One insert into a table at a time. The engine numbers the parts of two inserts, and a merge may span the one that is
   * not there yet: its rows are then dropped without an error (https://github.com/ClickHouse/ClickHouse/issues/108515).
   */
  #limitInserts(target: string): LimitFunction {
    const table = target.replace(/\(.*$/s, '').trim();
    const limit = this.#insertsOfTable.get(table) ?? pLimit(1);
    this.#insertsOfTable.set(table, limit);
    return limit;
  }

  async #query(res: ServerResponse, context: QueryContext, query: Query, signal: AbortSignal): Promise<void> {
    refuseSources(query.sql, context.settings, this.#options);
    const format = query.format ?? context.defaultFormat;
    const mayStream = query.isPlainSelect && FORMATS_TO_STREAM.has(format) && !context.waitsForEnd;
    const limits = mayStream ? {} : { max_result_bytes: WHOLE_RESULT_BYTES_MAX };
    await this.#withConnection(context, signal, limits, async (connection) => {
      if (!mayStream) {
        const result = await connection.run(query.sql, format);
        const summary = { ...NOTHING_DONE, readRows: result.rowsRead, readBytes: result.bytesRead };
        return sendWhole(res, context, result.bytes, summary);
      }
      const chunks = connection.stream(query.sql, format);
      try {
        await sendChunks(res, context, chunks);
      } finally {
        await chunks.return(undefined);
      }
    });
  }

  /** A fresh connection for each request: settings, parameters and temporary tables cannot reach another one. */
  async #withConnection<Result>(
    context: QueryContext,
    signal: AbortSignal,
    limits: Readonly<Record<string, number>>,
    use: (connection: Connection) => Promise<Result>,
  ): Promise<Result> {
    const isLow = Number(context.settings.get('priority') ?? 0) >= LOW_PRIORITY;
    const inTurn = isLow
      ? (work: () => Promise<Result>) => this.#limitLow(this.#limitQueries, work)
      : this.#limitQueries;
    return await inTurn(async () => {
      signal.throwIfAborted();
      const connection = this.#engine.connect();
      const stopKilling = this.#killOnAbort(context.queryId, signal);
      try {
        const { queryMemoryBytes, querySettings } = this.#options;
        const memory = { max_memory_usage: queryMemoryBytes };
        await connection.run(preludeOf(context, { ...AS_ON_A_SERVER, ...querySettings, ...memory, ...limits }));
        signal.throwIfAborted();
        return await use(connection);
      } finally {
        stopKilling();
        connection.close();
      }
    });
  }

  /** Repeated until the query has ended: the first attempt may come before the engine has begun it. */
  #killOnAbort(queryId: string, signal: AbortSignal): () => void {
    let timer: NodeJS.Timeout | undefined;
    const kill = () => {
      this.#engine.killByComment(queryId).catch(() => {});
      timer = setTimeout(kill, KILL_AGAIN_MS);
    };
    signal.addEventListener('abort', kill, { once: true });
    return () => {
      signal.removeEventListener('abort', kill);
      clearTimeout(timer);
    };
  }

  #releaseMemorySoon(): void {
    clearTimeout(this.#releaseTimer);
    this.#releaseTimer = setTimeout(() => {
      this.#engine.releaseMemory().catch(() => {});
    }, RELEASE_MEMORY_AFTER_MS).unref();
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function authenticationFailed(): ClickHouseFailure {
  return new ClickHouseFailure(516, 'AUTHENTICATION_FAILED', 'Authentication failed: password is incorrect');
}

/** The name of the file with the rows means nothing to the client. */
function withoutPath(error: unknown, file: string): ClickHouseFailure {
  const failure = toFailure(error);
  return new ClickHouseFailure(failure.code, failure.type, failure.message.replaceAll(file, 'the body'));
}

/** Largest size of a statement, which is held in memory. */
const TEXT_BYTES_MAX = 32 * 1024 * 1024;

/** The decompressed body; throws as soon as it is too long. */
async function* readUnpacked(req: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of unpack(req)) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ClickHouseFailure(1003, 'REQUEST_TOO_LARGE', `The body is longer than ${bytesMax} bytes`);
    }
    yield chunk;
  }
}

/** Abandoning the body must not close the socket: the refusal is still to be sent on it. */
function unpack(req: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return req.iterator({ destroyOnReturn: false });
  const unpacker = unpackerOf(encoding);
  req.once('error', (error) => unpacker.destroy(error));
  return req.pipe(unpacker);
}

function unpackerOf(encoding: string) {
  if (encoding === 'gzip') return zlib.createGunzip();
  if (encoding === 'deflate') return zlib.createInflate();
  if (encoding === 'br') return zlib.createBrotliDecompress();
  if (encoding === 'zstd') return zlib.createZstdDecompress();
  throw notImplemented(`the content encoding ${encoding}`);
}

/** The body as text; of a form, as clients send long parameters, its field `query` and what follows from the others. */
async function readText(req: IncomingMessage, setParameter: (name: string, value: string) => void) {
  const chunks: Buffer[] = [];
  for await (const chunk of readUnpacked(req, TEXT_BYTES_MAX)) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = req.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return body.toString();
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  let query = '';
  for (const [name, value] of form) {
    if (typeof value !== 'string') throw notImplemented('files in forms');
    if (name === 'query') query = value;
    else setParameter(name, value);
  }
  return query;
}

/**
 * Writes rows to a temporary file, uses it and removes it: first the rows in the statement's own text, then those in
 * the body. `isEmpty` says that there were none.
 */
async function withRowsFile<Result>(
  folder: string,
  rowsInText: string,
  rowsInBody: AsyncIterable<Buffer> | readonly Buffer[],
  use: (file: string, isEmpty: boolean) => Promise<Result>,
): Promise<Result> {
  const file = path.join(folder, `${randomUUID()}.rows`);
  let isEmpty = rowsInText === '';
  async function* rows() {
    if (rowsInText !== '') yield Buffer.from(rowsInText);
    for await (const chunk of rowsInBody) {
      isEmpty = false;
      yield chunk;
    }
  }
  try {
    await pipeline(rows, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
    return await use(file, isEmpty);
  } finally {
    await rm(file, { force: true });
  }
}
