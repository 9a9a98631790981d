import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Browsers send from any page, and no cookie counts here: a key does. Every answer can be read by the page that sent,
 * errors too.
 */
export const INGEST_CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-sentry-error, x-sentry-rate-limits, retry-after',
  'cross-origin-resource-policy': 'cross-origin',
};

/** Named where a browser does not ask for any, as old ones do not. */
const USUAL_HEADERS =
  'x-sentry-auth, x-requested-with, origin, accept, content-type, authentication, authorization, x-api-key, content-encoding, transfer-encoding, sentry-trace, baggage, traceparent';

const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, \t-]{1,4096}$/;

/**
 * Allows whatever headers the page is about to send: applications add their own to the transport of their client, and
 * a browser that is refused one sends nothing at all. `*` would not do: it leaves out `Authorization`.
 */
export async function answerPreflight(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const asked = request.headers['access-control-request-headers'];
  const isSound = asked !== undefined && HEADER_NAMES.test(asked);
  return reply
    .headers({
      ...INGEST_CORS,
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': isSound ? asked : USUAL_HEADERS,
      'access-control-max-age': '86400',
      vary: 'access-control-request-headers',
    })
    .code(204)
    .send();
}
