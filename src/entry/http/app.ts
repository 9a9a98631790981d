import { createServer } from 'node:http';

import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';

import { networkOf } from '#kernel/ip_address.ts';
import type { AppContext } from '#entry/compose.ts';
import { mountAnswers } from '#entry/http/answers/answers.ts';
import { mountCalendar } from '#entry/http/calendar.ts';
import { mountCallbacks } from '#entry/http/answers/callbacks.ts';
import {
  ANONYMOUS_BODY_BYTES_MAX,
  BodyBudget,
  bodyLimitsOf,
  requestsInPieces,
} from '#entry/http/connections/body_budget.ts';
import { CallBudget } from '#entry/http/connections/call_budget.ts';
import {
  answerClientError,
  connectionLimitsOf,
  httpTimeoutsOf,
  limitConnections,
} from '#entry/http/connections/connections.ts';
import { mountConsolePages } from '#entry/http/console_pages.ts';
import { mountConsole } from '#entry/http/console.ts';
import { mountDocs } from '#entry/http/docs.ts';
import { mountHealth } from '#entry/http/health.ts';
import { httpContextOf } from '#entry/http/http_context.ts';
import { mountIngest } from '#entry/http/ingest/ingest.ts';
import { mountMcp } from '#entry/http/mcp.ts';
import { mountMetrics } from '#entry/http/metrics.ts';
import { mountOAuth, mountProviderLogout } from './oauth.ts';
import { refusalOf, sendProblem } from '#entry/http/problem.ts';
import { mountPlaces } from '#entry/http/places/places.ts';
import { mountStatusPages } from '#entry/http/status/status_pages.ts';
import { mountProposalAnswers } from '#entry/http/answers/proposal_answers.ts';
import { RefusedAnswers } from '#entry/http/answers/refused_answers.ts';
import { mountResponder } from '#entry/http/responder.ts';
import { mountConfiguration } from '#entry/http/configuration.ts';
import { mountRest } from '#entry/http/rest.ts';
import { mountScim } from '#entry/http/scim.ts';
import { mountSentryApi } from '#entry/http/ingest/sentry_api.ts';
import { senderOf } from '#entry/http/connections/sender.ts';
import { spellAddressOf, spellForwardedAddresses, watchForwardedAddresses } from '#entry/http/connections/addresses.ts';
import { securityHeadersOf, sendSecurityHeaders } from '#entry/http/security_headers.ts';
import { openSharedLimits } from '#entry/http/shared_limits.ts';
import { openProcessPort, type ProcessAnswers } from '#entry/process_port.ts';
import { DiskSpace } from '#ingest/disk_space.ts';
import { IngestCounters } from '#ingest/ingest_counters.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { API_PATHS, INGEST_PATHS } from '#kernel/api_paths.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import { openApiDocument } from '#entry/http/openapi/document.ts';
import { once } from '#kernel/promises.ts';
import { startSpan, type TracedSpan, withinSpan } from '#kernel/tracing.ts';

/** Traces each request as a span, the child of the span that its sender names in `traceparent`. */
function traceRequests(app: FastifyInstance): void {
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

/**
 * Mounts `GET /api/openapi.json`, without authentication: it contains only what is published. The document is built on
 * the first request.
 */
async function mountOpenApi(app: FastifyInstance, baseUrl: string): Promise<void> {
  const document = once(async () => JSON.stringify(openApiDocument(baseUrl)));
  await app.register(async (scope) => {
    await compressAnswers(scope, { isPublic: true });
    scope.get('/api/openapi.json', async (_request, reply) =>
      reply
        .headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-cache' })
        .type('application/json; charset=utf-8')
        .send(await document()),
    );
  });
}

/** Default addresses of senders and agents that were told only the host, and the address here that serves the same. */
const SERVED_AT: ReadonlyMap<string, string> = new Map([
  ['/v1/metrics', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}`],
  ['/v1/traces', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; traces are not taken`],
  ['/v1/logs', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; logs are not taken`],
  ['/api/v1/write', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/api/v1/push', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/mcp', `MCP is served at ${API_PATHS.mcp}`],
  ['/sse', `MCP is served at ${API_PATHS.mcp}, by Streamable HTTP`],
]);

/** Returns the message for an address where nothing is served, with the right one if the wrong one is a default. */
function unknownAddress(method: string, url: string): string {
  const [path = ''] = url.split('?');
  const servedAt = SERVED_AT.get(path.replace(/\/$/, ''));
  return `nothing is served at ${method} ${path}${servedAt === undefined ? '' : `: ${servedAt}`}`;
}

const MEGABYTE = 1024 * 1024;

/** Builds the HTTP server. Every error is answered as a problem with the request id that the log has. */
export async function buildApp(context: AppContext): Promise<FastifyInstance> {
  const prefix = new URL(context.config.baseUrl).pathname.replace(/\/+$/, '');
  const headers = securityHeadersOf(context.config.baseUrl);
  const timeouts = httpTimeoutsOf(context.config);
  const IncomingMessage = requestsInPieces(context.config.bodyPieceBytesMin, (slow) => connections.refusePieces(slow));
  const noteForwarded = watchForwardedAddresses(context.log, context.config.trustedProxies);
  const app = fastify({
    logger: false,
    genReqId: () => newId('req'),
    requestIdHeader: false,
    bodyLimit: ANONYMOUS_BODY_BYTES_MAX,
    trustProxy: context.config.trustedProxies ?? false,
    forceCloseConnections: 'idle',
    serverFactory: (handle) =>
      createServer({ ...timeouts, IncomingMessage }, (request, response) => {
        noteForwarded(request);
        spellForwardedAddresses(request);
        if (connections.admitRequest(request, response)) handle(request, response);
      }).on('connection', spellAddressOf),
    routerOptions: { maxParamLength: 200 },
    rewriteUrl: (request) => withoutPrefix(request.url ?? '/', prefix),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, (slow) => connections.timedOut(slow)),
    // No hook runs before these errors.
    frameworkErrors: (error, request, reply) =>
      void sendProblem(error, request, reply.headers({ ...headers }), context.log),
  });
  traceRequests(app);
  sendSecurityHeaders(app, context.config.baseUrl);
  readNoBodies(app);
  const limits = openSharedLimits(app, context);
  const { reachedLimits } = context;
  const { trustedProxies } = context.config;
  const connections = limitConnections(app.server, connectionLimitsOf(context.config), {
    reachedLimits,
    trustedProxies,
    processes: limits.processes,
  });
  app.addHook('preClose', async () => connections.drain());
  app.addHook('onClose', async () => connections.close());
  new BodyBudget(bodyLimitsOf(context.config)).mount(app);
  const budget = new CallBudget(context.config, reachedLimits, limits);
  budget.mount(app);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, context.log));
  app.addHook('onSend', async (request, reply) => {
    void reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) reachedLimits.recordRefusal(refusal, senderOf(request) ?? networkOf(request.ip));
    const fields = {
      requestId: request.id,
      method: request.method,
      url: request.routeOptions.url,
      status: reply.statusCode,
    };
    context.log.debug({ ...fields, elapsedMs: Math.round(reply.elapsedTime) }, 'request answered');
  });
  const ingestCounters = new IngestCounters();
  const disk = new DiskSpace({
    folder: context.config.dataDir,
    bytesMin: context.config.ingestDiskMegabytes * MEGABYTE,
    log: context.log,
  });
  app.addHook('onClose', async () => disk.close());
  const readiness = mountHealth(app, context, disk);
  const metrics = mountMetrics(app, context, ingestCounters, limits);
  if (context.config.metricsPort !== 0) answerOnOwnPort(app, context, { readiness, metrics });
  await mountOpenApi(app, context.config.baseUrl);
  mountDocs(app);
  await mountRest(app, context.actions, budget, limits);
  await mountConfiguration(app, context.actions, budget, limits);
  await mountScim(app, context, limits);
  const { baseUrl } = context.config;
  await mountSentryApi(app, { runtime: context.actions, budget, limits, log: context.log, baseUrl });
  await mountMcp(app, context, budget, limits);
  await mountResponder(app, context, budget, limits);
  const httpContext = httpContextOf(context, limits);
  await mountOAuth(app, httpContext);
  const answerContext = { ...context, refusedAnswers: new RefusedAnswers(context, limits) };
  await mountCallbacks(app, answerContext);
  await mountAnswers(app, answerContext);
  await mountProposalAnswers(app, answerContext);
  await mountPlaces(app, context);
  await mountProviderLogout(app, context);
  mountCalendar(app, context);
  await mountStatusPages(app, httpContext);
  const findData = await mountConsole(app, httpContext, budget);
  await mountIngest(app, context, ingestCounters, { disk, limits });
  const answerUnknownPage = await mountConsolePages(app, context.config, findData);
  app.setNotFoundHandler(async (request, reply) => {
    if (await answerUnknownPage(request, reply)) return reply;
    const error = new AppError('not_found', unknownAddress(request.method, request.url));
    return sendProblem(error, request, reply, context.log);
  });
  return app;
}

function answerOnOwnPort(app: FastifyInstance, { config, log }: AppContext, answers: ProcessAnswers): void {
  let close = async (): Promise<void> => {};
  app.addHook('onReady', async () => {
    ({ close } = await openProcessPort({ host: config.metricsHost, port: config.metricsPort }, answers, log));
  });
  app.addHook('onClose', () => close());
}

/** Removes all body parsers: each scope that takes bodies adds its own, so bodies to unknown paths are never read. */
function readNoBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** Removes the path of the base URL, which a proxy may keep or strip. */
function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}
