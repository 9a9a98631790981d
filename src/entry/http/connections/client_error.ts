import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import type { Problem } from '#entry/http/problem.ts';
import { API_SECURITY_HEADERS } from '#entry/http/security_headers.ts';
import { newId } from '#kernel/ids.ts';
import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';

const STATUS: Readonly<Record<string, number>> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

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

const TOO_SLOW = 'the request took too long to arrive';

/** Answers 408 to a client that sends too slowly, and closes the connection. */
export function answerSlowRequest(socket: Socket, limit: LimitName): void {
  if (socket.writable) endWithProblem(socket, 408, TOO_SLOW, LIMIT_SETTINGS[limit].variable);
  else socket.destroy();
}

/** Answers 400 to a client whose body comes in too small pieces, and closes the connection. */
export function answerSmallPieces(socket: Socket): void {
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
