import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import {
  type ConnectionCounts,
  type ConnectionOptions,
  ConnectionTable,
} from '#entry/http/connections/connection_table.ts';
import { onceKnown } from '#entry/http/connections/sender.ts';
import type { Problem } from '#entry/http/problem.ts';
import { API_SECURITY_HEADERS } from '#entry/http/security_headers.ts';
import { newId } from '#kernel/ids.ts';
import { LIMIT_SETTINGS, type LimitName, type Limits } from '#kernel/limit_settings.ts';

const STATUS: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

const TOO_SLOW = 'the request took too long to arrive';

/** Limits on connections without a valid key: their share of this process's connections, and their time. */
export interface ConnectionLimits extends ConnectionCounts {
  /** Time after which a body that is still incomplete must arrive at `bodyBytesPerSecondMin` or faster. */
  readonly bodyGraceMs: number;
  readonly bodyBytesPerSecondMin: number;
  /** Bytes discarded of a body whose request was answered before it had arrived, for as long as `bodyGraceMs`. */
  readonly unreadBytesMax: number;
  /** Limit on the unanswered requests of one connection. They arrive in one read, which nothing interrupts. */
  readonly pipelinedMax: number;
}

export function connectionLimitsOf(limits: Limits): ConnectionLimits {
  return {
    connectionsMax: limits.connectionsMax,
    connectionsOfAddressMax: limits.connectionsOfAddressMax,
    bodyGraceMs: limits.bodyGraceSeconds * 1_000,
    bodyBytesPerSecondMin: limits.bodyBytesPerSecondMin,
    unreadBytesMax: limits.unreadKilobytes * 1_024,
    pipelinedMax: limits.pipelinedMax,
  };
}

/** Returns Node's own timeouts: a head that takes longer, and a request incomplete by then, are answered 408. */
export function httpTimeoutsOf({ headSeconds, requestSeconds }: Limits) {
  return {
    headersTimeout: headSeconds * 1_000,
    requestTimeout: Math.max(headSeconds, requestSeconds) * 1_000,
    keepAliveTimeout: 72_000,
    connectionsCheckingInterval: 2_000,
  };
}

const LOOK_EVERY_MS = 1_000;

interface Connection {
  readonly network: string;
  unanswered: number;
  /** Last request; null once it is complete and answered. */
  last: LastRequest | null;
}

interface LastRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly since: number;
  /** Bytes read from the connection when the request began. */
  readonly bytesBefore: number;
  /** Bytes read when the request was answered, and the time of that; null while it is not answered. */
  answered: { readonly bytes: number; readonly at: number } | null;
}

/** Bounded connections of a server. */
export interface LimitedConnections {
  /**
   * Closes every connection that waits for a request, and each other one as soon as its request is answered. Node
   * closes neither a connection over which no request has come yet nor, before `keepAliveTimeout`, one whose request
   * was under way when the server began to close: without this the server would wait for them.
   */
  drain(): void;
  /** Whether to answer a request; if not, its connection was closed. Call it before any work for the request. */
  admitRequest(request: IncomingMessage, response: ServerResponse): boolean;
  /** Closes a connection whose body comes in pieces that are too small. */
  refusePieces(socket: Socket): void;
  /** Returns the limit reached by a connection that Node found too slow, and counts it. */
  timedOut(socket: Socket): LimitName;
  close(): void;
}

/**
 * Bounds the connections of a server: their number, their number per address without a key, the time of a body, and the
 * bytes discarded of a body whose request was answered without it.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  options: ConnectionOptions,
): LimitedConnections {
  const { reachedLimits } = options;
  let isDraining = false;
  const connections = new Map<Socket, Connection>();
  const table = new ConnectionTable(limits, options);

  server.on('connection', (socket: Socket) => {
    if (isDraining) {
      socket.destroy();
      return;
    }
    const network = table.admit(socket);
    if (network === null) return;
    onceKnown(socket, () => table.setKnown(socket));
    connections.set(socket, { network, unanswered: 0, last: null });
    socket.once('close', () => connections.delete(socket));
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined || socket.destroyed) return;
    const last: LastRequest = {
      request,
      response,
      since: performance.now(),
      bytesBefore: socket.bytesRead,
      answered: null,
    };
    connection.last = last;
    table.setBusy(socket);
    if (isDraining) response.shouldKeepAlive = false;
    response.once('close', () => {
      last.answered = { bytes: socket.bytesRead, at: performance.now() };
      const isLast = connection.last === last;
      if (!request.complete) {
        // A reader of part of the body, as of an envelope, leaves the rest, and the next request follows it.
        request.resume();
      } else if (isLast) connection.last = null;
      if (isDraining) socket.destroySoon();
      if (isLast) table.setIdle(socket);
    });
  });

  const look = setInterval(() => {
    for (const [socket, { last, network }] of connections) {
      if (last === null || last.request.complete) continue;
      const { since, bytesBefore, answered } = last;
      if (answered !== null) {
        const isLate = performance.now() - answered.at > limits.bodyGraceMs;
        if (isLate || socket.bytesRead - answered.bytes > limits.unreadBytesMax) {
          reachedLimits.record(isLate ? 'bodyBytesPerSecondMin' : 'unreadKilobytes', network);
          socket.destroy();
        }
        continue;
      }
      const elapsedMs = performance.now() - since;
      const bytes = socket.bytesRead - bytesBefore;
      if (elapsedMs < limits.bodyGraceMs || bytes >= (elapsedMs / 1_000) * limits.bodyBytesPerSecondMin) continue;
      reachedLimits.record('bodyBytesPerSecondMin', network);
      answerSlowRequest(socket, 'bodyBytesPerSecondMin');
    }
  }, LOOK_EVERY_MS);
  look.unref();
  return {
    drain() {
      isDraining = true;
      for (const [socket, { last }] of connections) {
        if (last === null || last.answered !== null) socket.destroy();
        else last.response.shouldKeepAlive = false;
      }
    },
    admitRequest({ socket }, response) {
      const connection = connections.get(socket);
      if (connection === undefined || socket.destroyed) return !socket.destroyed;
      connection.unanswered += 1;
      response.once('close', () => (connection.unanswered -= 1));
      if (connection.unanswered <= limits.pipelinedMax) return true;
      reachedLimits.record('pipelinedMax', connection.network);
      destroyWithRequests(socket);
      return false;
    },
    refusePieces(socket) {
      reachedLimits.record('bodyPieceBytesMin', connections.get(socket)?.network ?? '');
      if (connections.get(socket)?.last?.answered === null) answerSmallPieces(socket);
      else socket.destroy();
    },
    timedOut(socket) {
      const { last = null, network = '' } = connections.get(socket) ?? {};
      const limit = last === null || last.request.complete ? 'headSeconds' : 'requestSeconds';
      reachedLimits.record(limit, network);
      return limit;
    },
    close: () => clearInterval(look),
  };
}

/**
 * Closes a connection with many requests. Node gives each of them an error whose stack nobody reads: for 1,900 in one
 * read that took 40 ms.
 */
function destroyWithRequests(socket: Socket): void {
  const { stackTraceLimit } = Error;
  socket.prependOnceListener('close', () => (Error.stackTraceLimit = 0));
  socket.once('close', () => (Error.stackTraceLimit = stackTraceLimit));
  socket.destroy();
}

/**
 * Answers input that is not an HTTP request, and so reaches no route, with a problem, and closes the connection;
 * `limit` is the limit of a timeout.
 */
export function answerClientError(
  error: Error & { readonly code?: string },
  socket: Socket,
  limit: (socket: Socket) => LimitName,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const status = STATUS[error.code ?? ''] ?? 400;
  if (status === 408) answerSlowRequest(socket, limit(socket));
  else endWithProblem(socket, status, 'the request is malformed');
}

/** Answers 408 to a client that sends too slowly, and closes the connection. */
function answerSlowRequest(socket: Socket, limit: LimitName): void {
  if (socket.writable) endWithProblem(socket, 408, TOO_SLOW, LIMIT_SETTINGS[limit].variable);
  else socket.destroy();
}

/** Answers 400 to a client whose body comes in too small pieces, and closes the connection. */
function answerSmallPieces(socket: Socket): void {
  const what = 'the body comes in too many small pieces; send it in larger chunks';
  if (socket.writable) endWithProblem(socket, 400, what, LIMIT_SETTINGS.bodyPieceBytesMin.variable);
  else socket.destroy();
}

function endWithProblem(socket: Socket, status: number, what: string, limit?: string): void {
  const title = STATUS_CODES[status] ?? 'Error';
  const requestId = newId('req');
  const detail = limit === undefined ? what : `${what} (limit: ${limit})`;
  const problem: Problem = {
    type: 'about:blank',
    title,
    status,
    detail,
    code: 'invalid_input',
    requestId,
    ...(limit !== undefined && { limit }),
  };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    `x-request-id: ${requestId}`,
    ...Object.entries(API_SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
