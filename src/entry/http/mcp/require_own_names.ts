import type { FastifyInstance } from 'fastify';

import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';
import { once } from '#kernel/promises.ts';

/**
 * Refuses requests that a foreign page makes a browser send. A proxy in front may call the product by the loopback
 * names, too. The SDK, which checks this, is loaded with the first request.
 */
export function requireOwnNames(scope: FastifyInstance, baseUrl: string): void {
  const hostname = new URL(baseUrl).hostname;
  const checks = once(async () => {
    const { hostHeaderValidation, originValidation } = await import('@modelcontextprotocol/fastify');
    return [
      hostHeaderValidation([hostname, ...LOOPBACK_NAMES]),
      originValidation(LOOPBACK_NAMES.includes(hostname) ? [...LOOPBACK_NAMES] : [hostname]),
    ];
  });
  scope.addHook('onRequest', async (request, reply) => {
    for (const check of await checks()) {
      await check(request, reply);
      if (reply.sent) return reply;
    }
    return undefined;
  });
}
