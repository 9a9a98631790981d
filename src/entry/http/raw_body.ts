import type { FastifyInstance, FastifyRequest } from 'fastify';

const contentTypes = new WeakMap<FastifyRequest, string>();

/**
 * Bodies of this scope arrive as the bytes that were sent. The content type is taken out of Fastify's sight, which
 * would answer 415 to those that real senders misspell.
 */
export function parseRawBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.addHook('onRequest', async (request) => {
    const contentType = request.headers['content-type'];
    if (contentType !== undefined) contentTypes.set(request, contentType);
    // As good as deleted, which would make the object slow to use.
    request.headers['content-type'] = undefined;
  });
}

/** What the sender called its body; undefined when it did not. */
export function contentTypeOf(request: FastifyRequest): string | undefined {
  return contentTypes.get(request);
}

/**
 * The bytes, once; none for a request without a body. A connection holds on to its last request until the next one
 * comes, but need not hold on to these.
 */
export function rawBodyOf(request: FastifyRequest): Buffer {
  const { body } = request;
  request.body = undefined;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
