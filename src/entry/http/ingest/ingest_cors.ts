import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * CORS headers of ingestion: browsers send from any page. It uses no cookie, only a key, so the page may read every
 * answer, including errors.
 */
export const INGEST_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-sentry-error, x-sentry-rate-limits, retry-after',
  'cross-origin-resource-policy': 'cross-origin',
};

/** Headers allowed to browsers that do not say which ones they will send, as old browsers do not. */
const DEFAULT_HEADERS =
  'x-sentry-auth, x-requested-with, origin, accept, content-type, authentication, authorization, x-api-key, content-encoding, transfer-encoding, sentry-trace, baggage, traceparent';

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/;

/**
 * Allows every header that the page is about to send: applications add their own to the transport of their client, and
 * a browser sends nothing at all if one of them is refused. `*` is not enough, because it excludes `Authorization`.
 */
export async function answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const asked = request.headers['access-control-request-headers'];
  const isSound = asked !== undefined && HEADER_NAMES.test(asked);
  return reply
    .headers({
      ...INGEST_CORS,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': isSound ? asked : DEFAULT_HEADERS,
      'access-control-max-age': '86400',
      vary: 'access-control-request-headers',
    })
    .code(204)
    .send();
}
