import { isUtf8 } from 'node:buffer';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { AppError, invalidInput } from '#kernel/errors.ts';
import { surveyJson } from '#kernel/json_survey.ts';
import { LEVELS_MAX, NESTED_TOO_DEEP } from '#kernel/input_faults.ts';

interface JsonBodies {
  readonly mediaTypes?: readonly string[];
  readonly valuesMax?: number;
}

/** Makes the scope parse bodies as plain JSON only: another media type, or a compressed body, is answered 415. */
export function parseJsonBodies(
  scope: FastifyInstance,
  { mediaTypes = ['application/json'], valuesMax = VALUES_MAX }: JsonBodies = {},
): void {
  scope.removeAllContentTypeParsers();
  scope.addHook('preParsing', async (request) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw new AppError('unsupported_media_type', 'send the body without content-encoding');
  });
  scope.addContentTypeParser([...mediaTypes], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseJson(body, valuesMax),
  );
}

/** Limit on the values in a body: more than any action needs, and read and checked in some milliseconds. */
const VALUES_MAX = 10_000;
/** Limit on the nesting of the body: includes the protocol's envelope around what is checked later. */
const LEVELS_READ_MAX = LEVELS_MAX + 20;

/** Reads JSON as RFC 8259 defines it. Of equal names in one object the last counts; a byte order mark is skipped. */
function parseJson(bytes: Buffer, valuesMax: number): unknown {
  if (bytes.length === 0) throw refusal('the body is empty; send a JSON object, {} at least');
  if (!isUtf8(bytes)) throw refusal('the body is not valid UTF-8');
  const { values, levels } = surveyJson(bytes, valuesMax, LEVELS_READ_MAX);
  if (levels > LEVELS_READ_MAX) throw refusal(NESTED_TOO_DEEP);
  if (values > valuesMax) throw refusal(`the body holds more than ${valuesMax} values; send less at a time`);
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = error instanceof SyntaxError ? /\(line \d+ column \d+\)/.exec(error.message) : null;
    throw refusal(place === null ? 'the body is not valid JSON' : `the body is not valid JSON ${place[0]}`);
  }
}

function refusal(message: string): AppError {
  return invalidInput([{ path: '', message }]);
}

const contentTypes = new WeakMap<FastifyRequest, string>();

/**
 * Makes the bodies of this scope arrive as the bytes that were sent. The content type is hidden from Fastify, which
 * would answer 415 to misspelled ones of real senders.
 */
export function parseRawBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.addHook('onRequest', async (request) => {
    const contentType = request.headers['content-type'];
    if (contentType !== undefined) contentTypes.set(request, contentType);
    // Has the effect of deleting it, which would make the object slow to use.
    request.headers['content-type'] = undefined;
  });
}

/** Returns the content type that the sender declared; undefined if it declared none. */
export function contentTypeOf(request: FastifyRequest): string | undefined {
  return contentTypes.get(request);
}

/**
 * Returns the bytes, once; empty for a request without a body. A connection keeps its last request until the next one
 * comes, but need not keep its bytes.
 */
export function rawBodyOf(request: FastifyRequest): Buffer {
  const { body } = request;
  request.body = undefined;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
