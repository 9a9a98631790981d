import type { FastifyInstance } from 'fastify';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** For all that is no page: should a browser show it after all, it loads, runs and frames nothing. */
export const API_SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

/**
 * Headers of every answer; a page puts a policy of its own in place of this one. Over https
 * browsers are told to use https only from then on (RFC 6797): for this host, not for those below it.
 */
export function securityHeadersOf(baseUrl: string): Readonly<Record<string, string>> {
  return {
    ...API_SECURITY_HEADERS,
    ...(baseUrl.startsWith('https://') && { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }),
  };
}

/** Set on the raw answer, so that those which pass Fastify by have them, too. */
export function sendSecurityHeaders(app: FastifyInstance, baseUrl: string): void {
  const headers = new Map(Object.entries(securityHeadersOf(baseUrl)));
  app.addHook('onRequest', async (_request, { raw }) => {
    raw.setHeaders(headers);
  });
}
