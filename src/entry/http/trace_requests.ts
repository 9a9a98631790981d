import type { FastifyInstance, FastifyRequest } from 'fastify';

import { startSpan, type TracedSpan, withinSpan } from '#kernel/tracing.ts';

/** Traces each request as a span, the child of the span that its sender names in `traceparent`. */
export function traceRequests(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, TracedSpan>();
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const { traceparent } = request.headers;
    const span = startSpan(`${request.method} ${route}`, {
      kind: 'server',
      // Neither path nor query: they hold keys and links.
      attributes: { 'http.request.method': request.method, 'http.route': route, 'tocsin.request_id': request.id },
      parent: typeof traceparent === 'string' ? traceparent : null,
    });
    if (span !== null) spans.set(request, span);
    withinSpan(span, done);
  });
  // Reading a body leaves the context of the hook before it.
  app.addHook('preHandler', (request, _reply, done) => withinSpan(spans.get(request) ?? null, done));
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request);
    span?.set({ 'http.response.status_code': reply.statusCode });
    span?.end(reply.statusCode >= 500 ? new Error(`answered ${reply.statusCode}`) : undefined);
  });
}
