import type { FastifyInstance } from 'fastify';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Headers of every answer that is not a page: should a browser show it, it loads, runs and frames nothing. */
export const API_SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

/**
 * Returns the headers of every answer; a page replaces this policy with its own. Over https browsers are told to use
 * only https from then on (RFC 6797): for this host, not for its subdomains.
 */
export function securityHeadersOf(baseUrl: string): Readonly<Record<string, string>> {
  return {
    ...API_SECURITY_HEADERS,
    ...(baseUrl.startsWith('https://') && { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }),
  };
}

/** Sets the headers on the raw answer, so that answers which bypass Fastify have them, too. */
export function sendSecurityHeaders(app: FastifyInstance, baseUrl: string): void {
  const headers = new Map(Object.entries(securityHeadersOf(baseUrl)));
  app.addHook('onRequest', async (_request, { raw }) => {
    raw.setHeaders(headers);
  });
}
