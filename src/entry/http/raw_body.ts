import type { FastifyInstance, FastifyRequest } from 'fastify';

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
