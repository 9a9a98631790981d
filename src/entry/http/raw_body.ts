import type { FastifyInstance, FastifyRequest } from 'fastify';

const contentTypes = new WeakMap<FastifyRequest, string>();

/**
 * Bodies of this scope arrive as the bytes that were sent. The content type is taken out of Fastify's sight, which
 * would answer 415 to those that real senders misspell.
 */
export function takeRawBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.addHook('onRequest', async (request) => {
    const contentType = request.headers['content-type'];
    if (contentType !== undefined) contentTypes.set(request, contentType);
    delete request.headers['content-type'];
  });
}

/** What the sender called its body; undefined when it did not. */
export function contentTypeOf(request: FastifyRequest): string | undefined {
  return contentTypes.get(request);
}

/** The bytes; none for a request without a body. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
