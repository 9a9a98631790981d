import type { FastifyReply, FastifyRequest } from 'fastify';

const LOCAL_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]']);

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/**
 * Answers only this machine. Another site in the person's browser could reach a loopback port by rebinding its own
 * name to 127.0.0.1, or by posting from its page: the first is told by Host, the second by Origin.
 */
export async function answerOnlyThisMachine(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(HEADERS);
  const { host = '', origin } = request.headers;
  const isFromElsewhere =
    !LOCAL_NAMES.has(hostnameOf(`http://${host}`)) || (origin !== undefined && origin !== `http://${host}`);
  if (isFromElsewhere) await reply.code(403).send({ error: 'the phone simulator answers this machine only' });
}

function hostnameOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : '';
}
