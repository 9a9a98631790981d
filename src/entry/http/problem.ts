import { STATUS_CODES } from 'node:http';

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

import { AppError, ERROR_CODES, type ErrorCode, errorCodeOf, type Fault } from '#kernel/errors.ts';
import { LIMIT_SETTINGS } from '#kernel/limit_settings.ts';
import type { Log } from '#kernel/log.ts';
import { isTransient } from '#storage/postgres/faults.ts';

/** The body of every error (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly requestId: string;
  readonly errors?: readonly Fault[];
  /** Setting of the limit that was reached. */
  readonly limit?: string;
}

/**
 * Answers any error as application/problem+json. An error that is not an AppError is a bug: logged in full, answered
 * without its text.
 */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const refusal = beginRefusal(error, request, reply, log);
  return reply.type('application/problem+json; charset=utf-8').send(JSON.stringify(toProblem(refusal, request.id)));
}

/** Logs the errors that we have to look into, and sets all of the answer but its body. */
export function beginRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): AppError {
  const appError = isOfWhoLeft(error, request) ? toAppError(error) : toLoggedAppError(error, request.id, log);
  noteRefusal(request, appError);
  if (appError.retryAfterSeconds !== undefined) void reply.header('retry-after', String(appError.retryAfterSeconds));
  if (appError.code === 'unauthenticated') void reply.header('www-authenticate', 'Bearer realm="tocsin"');
  void reply.code(appError.status).headers({ 'cache-control': 'no-store', 'x-request-id': request.id });
  return appError;
}

/** Whether an answer ended early because the client had left, which is not an error of the server. */
function isOfWhoLeft(error: unknown, request: FastifyRequest): boolean {
  return errorCodeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE' && request.raw.socket.destroyed;
}

const refusals = new WeakMap<FastifyRequest, AppError>();

/** Keeps the refusal of a request until it has been answered, for the counters. */
export function noteRefusal(request: FastifyRequest, refusal: AppError): void {
  refusals.set(request, refusal);
}

export function refusalOf(request: FastifyRequest): AppError | undefined {
  return refusals.get(request);
}

/** Converts any error to the refusal that is answered. */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError ? error : fromFastify(error);
}

/** Converts any error to the refusal that is answered, and logs those that we have to look into. */
export function toLoggedAppError(error: unknown, requestId: string, log: Log): AppError {
  const appError = toAppError(error);
  if (appError.code === 'internal') log.error({ err: error, requestId }, 'request failed');
  else if (appError.code === 'unavailable') log.warn({ err: appError.cause, requestId }, appError.message);
  return appError;
}

export function toProblem(error: AppError, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    code: error.code,
    requestId,
    ...(error.faults.length > 0 ? { errors: error.faults } : {}),
    ...(error.limit !== undefined && { limit: LIMIT_SETTINGS[error.limit].variable }),
  };
}

/** Messages for Fastify's own refusals. */
const FASTIFY_ERRORS: Record<string, readonly [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'send the body as content-type: application/json'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'the body is larger than this address takes'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_input', 'the body is empty; send a JSON object, {} at least'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_input', 'the body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_input', 'the body is not as long as content-length says'],
};

function fromFastify(error: unknown): AppError {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const fastifyError = FASTIFY_ERRORS[code];
  if (fastifyError !== undefined) {
    return new AppError(fastifyError[0], fastifyError[1], { cause: error, ...faultsOf(fastifyError) });
  }
  if (statusCode >= 400 && statusCode < 500) {
    const match = Object.entries(ERROR_CODES).find(([, status]) => status === statusCode)?.[0] as ErrorCode | undefined;
    return new AppError(match ?? 'invalid_input', 'the request is malformed', { cause: error });
  }
  if (isTransient(error)) {
    return new AppError('unavailable', 'the database is busy with the same; nothing was changed, try again shortly', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  return new AppError('internal', 'something went wrong on our side; the request id is in our log', { cause: error });
}

function faultsOf([code, message]: readonly [ErrorCode, string]): { faults?: readonly Fault[] } {
  return code === 'invalid_input' ? { faults: [{ path: '', message }] } : {};
}
