import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { answerPreflight, INGEST_CORS } from '#entry/http/ingest/ingest_cors.ts';
import { routesFor, type IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { beginRefusal, sendProblem, toAppError } from '#entry/http/problem.ts';
import { contentTypeOf, rawBodyOf } from '#entry/http/request_body.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { takePoints } from '#entry/http/ingest/take_points.ts';
import { inflate } from '#ingest/inflate.ts';
import { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import type { MetricProtocol } from '#ingest/protocol.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { METRIC_PROTOCOLS } from '#ingest/registry.ts';
import { AppError } from '#kernel/errors.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';

/**
 * Mounts the routes that accept points, one for each protocol. The key is checked before the body is read. GET says
 * whether the key is valid, as some senders ask before they start.
 */
export function mountMetricIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  const memory = new SeriesMemory();
  scope.addHook('onRequest', async (_request, reply) => {
    void reply.headers(INGEST_CORS);
  });
  scope.addHook('onError', async (request, _reply, error) => {
    const serviceId = targets.get(request)?.serviceId;
    if (serviceId === undefined) return;
    context.counters.refusedRequests.add({ kind: 'points', code: toAppError(error).code, serviceId });
  });
  for (const protocol of METRIC_PROTOCOLS) {
    for (const url of routesFor(protocol.path, context)) {
      scope.route({
        method: 'POST',
        url,
        bodyLimit: protocol.bodyBytesMax,
        async onRequest(request) {
          const target = await context.badKeys.guard(request.ip, () => context.access.openMetrics(request.headers));
          targets.set(request, target);
          setSender(request, target.serviceId);
          await context.pointRates.check(target.serviceId);
        },
        async handler(request, reply) {
          const target = targets.get(request);
          if (target === undefined) throw new Error('the request was not authenticated');
          return await take(protocol, target, request, reply);
        },
        errorHandler: (error, request, reply) => void refuse(protocol, error, request, reply),
      });
      scope.options(url, answerPreflight);
      scope.route({
        method: 'GET',
        url,
        async onRequest(request) {
          await context.badKeys.guard(request.ip, () => context.access.openMetrics(request.headers));
        },
        handler: async (_request, reply) => reply.type('text/plain; charset=utf-8').send('Send data here with POST.\n'),
        errorHandler: (error, request, reply) => void refuse(protocol, error, request, reply),
      });
      scope.route({ method: ['PUT', 'PATCH', 'DELETE'], url, onRequest: refuseMethod, handler: () => {} });
    }
  }

  const refuse = (
    protocol: MetricProtocol,
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply => {
    const answer = protocol.refusal?.(toAppError(error), contentTypeOf(request)) ?? null;
    if (answer === null) return sendProblem(error, request, reply, context.log);
    const { retryAfterSeconds } = beginRefusal(error, request, reply, context.log);
    if (retryAfterSeconds !== undefined && protocol.retrySecondsMax !== undefined) {
      void reply.header('retry-after', String(Math.min(retryAfterSeconds, protocol.retrySecondsMax)));
    }
    return reply.type(answer.contentType).send(answer.body);
  };

  const take = async (
    protocol: MetricProtocol,
    target: IngestTarget,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const decoded = await takePoints(context, target, async () => {
      const sent = rawBodyOf(request);
      const encoding = request.headers['content-encoding']?.trim().toLowerCase();
      const isOwn = protocol.ownEncoding !== undefined && (!encoding || encoding === protocol.ownEncoding);
      const body = isOwn
        ? sent
        : await context.refusedBytes.watch({ serviceId: target.serviceId, ip: request.ip }, (count) =>
            inflate(sent, encoding, {
              compressedBytesMax: protocol.bodyBytesMax,
              inflatedBytesMax: protocol.bodyBytesMax,
              count,
            }),
          );
      if (body !== sent) freeBytes(sent);
      const decode = isOwn ? protocol.decode : (protocol.decodeInflated ?? protocol.decode);
      return (now, limits) => freeing(body, decode(body, contentTypeOf(request), now, limits, memory));
    });
    const answer = protocol.answer(decoded, contentTypeOf(request));
    if (answer.contentType !== null) void reply.type(answer.contentType);
    if (answer.headers !== undefined) void reply.headers(answer.headers);
    return reply.code(answer.status).send(answer.body);
  };
}

/** Runs the decoding, then frees the body: the decoded data does not refer to it. */
function* freeing<Result>(body: Buffer, steps: Steps<Result>): Steps<Result> {
  try {
    return yield* steps;
  } finally {
    freeBytes(body);
  }
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('allow', 'GET, POST, OPTIONS');
  throw new AppError('method_not_allowed', 'data is sent with POST');
}
