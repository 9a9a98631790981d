import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { answerPreflight, INGEST_CORS, type IngestContext, routesFor } from '#entry/http/ingest/ingest_context.ts';
import { beginRefusal, sendProblem, toAppError } from '#entry/http/problem.ts';
import { contentTypeOf, rawBodyOf } from '#entry/http/request_body.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { takePoints } from '#entry/http/ingest/take_points.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import { admitItems, findReachedLimit, limitsHeader, quietHeader } from '#ingest/item_limits.ts';
import { inflate } from '#ingest/inflate.ts';
import { encodeOtlpRefusal, OTHER_SIGNALS, signalNotTaken } from '#ingest/protocols/otlp_metrics.ts';
import type { Inflate } from '#ingest/protocols/sentry/envelope.ts';
import { parseDsn, sentryKeyOf } from '#ingest/protocols/sentry/auth.ts';
import { readFirstLine } from '#ingest/protocols/sentry/first_line.ts';
import { readFeedback, type SentFeedback } from '#ingest/protocols/sentry/side_items.ts';
import {
  decodeSentryRequest,
  SENTRY_BODY_LIMITS,
  SENTRY_ENDPOINTS,
  SENTRY_PROJECT_PATTERN,
  type SentryDelivery,
  type SentryRequest,
} from '#ingest/protocols/sentry.ts';
import type { SentMetric } from '#ingest/protocols/sentry/trace_metrics.ts';
import { AppError } from '#kernel/errors.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';

/** Size from which a body is not read if its service is over the limit on events: only events and files reach it. */
const LARGE_BODY_BYTES = 1024 * 1024;

interface SentryRoute {
  /** Absent in the address of a tunnel. */
  readonly Params: { readonly projectId?: string; readonly key?: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Mounts the routes that Sentry's clients derive from a DSN. Browsers may read every answer, including errors. */
export function mountSentryIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  /** Rate limit headers of requests whose service has reached a limit. */
  const limited = new WeakMap<FastifyRequest, string>();
  const open = async (request: FastifyRequest, key: string | null, projectId: string): Promise<IngestTarget> => {
    const target = await context.badKeys.guard(request.ip, () => context.access.openExceptions(key, projectId));
    targets.set(request, target);
    setSender(request, target.serviceId);
    if (Number(request.headers['content-length'] ?? 0) > LARGE_BODY_BYTES) {
      const reached = await findReachedLimit(context.itemLimits, 'events', target.serviceId);
      if (reached === null) return target;
      limited.set(request, limitsHeader([reached]));
      throw reached.error;
    }
    return target;
  };

  scope.addHook('onRequest', async (_request, reply) => {
    void reply.headers(INGEST_CORS);
  });
  scope.addHook('onError', async (request, _reply, error) => {
    const serviceId = targets.get(request)?.serviceId;
    if (serviceId === undefined) return;
    context.counters.refusedRequests.add({ kind: 'events', code: toAppError(error).code, serviceId });
  });
  scope.setErrorHandler((error, request, reply) => {
    void reply.headers(headersOf(toAppError(error), limited.get(request) ?? null));
    return sendProblem(error, request, reply, context.log);
  });

  const tunnels = context.tunnelPaths.map((path) => ({ kind: 'envelope', path }) as const);
  for (const { kind, path } of [...SENTRY_ENDPOINTS, ...tunnels]) {
    const addresses = routesFor(path.replace(':projectId', `:projectId(${SENTRY_PROJECT_PATTERN})`), context);
    for (const url of addresses) {
      scope.route<SentryRoute>({
        method: 'POST',
        url,
        bodyLimit: SENTRY_BODY_LIMITS.compressedBytesMax,
        async onRequest(request) {
          const { projectId } = request.params;
          const key = sentryKeyOf(request.headers, request.query) ?? request.params.key ?? null;
          // If the key or the project is missing here, it is in the first line of the envelope.
          if (projectId !== undefined && (key !== null || kind !== 'envelope')) await open(request, key, projectId);
        },
        async preParsing(request, _reply, payload) {
          if (targets.has(request)) return payload;
          const { dsn, stream } = await readFirstLine(payload, request.headers['content-encoding']);
          await open(request, dsn?.publicKey ?? null, request.params.projectId ?? dsn?.projectId ?? '');
          return stream;
        },
        async handler(request, reply) {
          const target = targets.get(request);
          if (target === undefined) throw new Error('the request was not authenticated');
          const sent = await context.unpacking.run(target.serviceId, () =>
            context.refusedBytes.watch(
              { serviceId: target.serviceId, ip: request.ip },
              (count) => decodeSentryRequest(toSentryRequest(kind, request, context), inflateCounting(count)),
              (delivery) => !isEmpty(delivery),
            ),
          );
          const { delivery, reached } = await admitItems(context.itemLimits, target.serviceId, sent);
          const checkIns = await context.checkIns.accept(target, delivery.besides.checkIns);
          const failure = await takeMetrics(context, target, delivery.besides.metrics);
          if (failure?.code === 'rate_limited') reached.push({ kind: 'metrics', error: failure });
          await takeEvents(context, target, delivery);
          if (reached.length > 0) limited.set(request, limitsHeader(reached));
          const [first] = reached;
          if (first !== undefined && (first.kind === 'events' || isEmpty(delivery))) throw first.error;
          requireTaken(checkIns, delivery);
          // With events the failure is only counted: the client would send the events again.
          if (failure !== null && delivery.events.length === 0) throw failure;
          if (checkIns.faults.length > 0) void reply.header('x-sentry-error', asHeader(checkIns.faults.join('; ')));
          const limits = limited.get(request);
          if (limits !== undefined) void reply.header('x-sentry-rate-limits', limits);
          return { id: sent.eventId };
        },
      });
      scope.options(url, answerPreflight);
      scope.route({ method: ['GET', 'PUT', 'PATCH', 'DELETE'], url, onRequest: refuseMethod, handler: () => {} });
    }
  }

  for (const url of context.prefixes.map((prefix) => `${prefix}/api/:projectId(${SENTRY_PROJECT_PATTERN})/*`)) {
    scope.route<SentryRoute>({
      method: 'POST',
      url,
      async onRequest(request, reply) {
        const key = sentryKeyOf(request.headers, request.query);
        if (key === null) return reply.callNotFound();
        await open(request, key, request.params.projectId ?? '');
        throw new AppError('not_found', `nothing is served at ${request.url.split('?')[0]}: ${WHERE_EVENTS_GO}`);
      },
      handler: () => {},
    });
  }

  for (const url of routesFor(OLDER_FEEDBACK_PATH, context)) {
    scope.route({
      method: 'POST',
      url,
      bodyLimit: FEEDBACK_BYTES_MAX,
      async onRequest(request) {
        const dsn = parseDsn(/^DSN\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]);
        await open(request, dsn?.publicKey ?? null, dsn?.projectId ?? '');
      },
      async handler(request) {
        const serviceId = targets.get(request)?.serviceId;
        if (serviceId === undefined) throw new Error('the request was not authenticated');
        const feedback = readFeedback('user_report', rawBodyOf(request), null);
        if (feedback === null) throw new AppError('invalid_input', NO_FEEDBACK);
        const reached = await findReachedLimit(context.itemLimits, 'feedback', serviceId, 1);
        if (reached !== null) {
          limited.set(request, limitsHeader([reached]));
          throw reached.error;
        }
        await context.telemetry.accept(serviceId, deliveryOf(feedback));
        return feedback;
      },
    });
    scope.options(url, answerPreflight);
  }

  for (const { signal, path } of OTHER_SIGNALS) {
    const address = `/api/:projectId(${SENTRY_PROJECT_PATTERN})/integration/otlp/${path}`;
    for (const url of routesFor(address, context)) {
      scope.route<SentryRoute>({
        method: 'POST',
        url,
        async onRequest(request) {
          await open(request, sentryKeyOf(request.headers, request.query), request.params.projectId ?? '');
          throw signalNotTaken(signal);
        },
        handler: () => {},
        errorHandler(error, request, reply) {
          const answer = encodeOtlpRefusal(toAppError(error), contentTypeOf(request));
          if (answer === null) return void sendProblem(error, request, reply, context.log);
          beginRefusal(error, request, reply, context.log);
          return void reply.type(answer.contentType).send(answer.body);
        },
      });
    }
  }
}

/** Address of user feedback before envelopes, with `Authorization: DSN …`: backends send there what their users said. */
const OLDER_FEEDBACK_PATH = '/api/0/projects/:org/:project/user-feedback';
const FEEDBACK_BYTES_MAX = 64 * 1024;
const NO_FEEDBACK = 'give "event_id", the id of the event, and "comments", what the user said, as a JSON object';

/** Returns a request that holds nothing but this feedback. */
function deliveryOf(feedback: SentFeedback): SentryDelivery {
  const none = { sessions: [], outcomes: [], discarded: [], checkIns: [], metrics: [], attachments: [] };
  const besides = { ...none, feedback: [feedback] };
  return { publicKey: null, projectId: null, eventId: feedback.eventId ?? '', events: [], dropped: [], besides };
}

/** Stores the events and all other items but check-ins. Throws if events were too large, and none came with them. */
async function takeEvents(context: IngestContext, target: IngestTarget, delivery: SentryDelivery): Promise<void> {
  const { serviceId } = target;
  const { events, dropped } = delivery;
  await context.telemetry.accept(serviceId, delivery);
  const tooLarge = dropped.filter(({ type, reason }) => type === 'event' && reason === 'too_large').length;
  if (events.length === 0 && tooLarge > 0) throw new AppError('payload_too_large', TOO_LARGE);
  try {
    if (events.length > 0) await context.intake.acceptEvents(target, events);
  } catch (error) {
    context.itemLimits.events.giveBack(serviceId, events.length);
    throw error;
  }
  const faulty = dropped.filter(({ type, reason }) => type === 'event' && reason === 'malformed').length;
  context.counters.countEvents(serviceId, events.length, { faulty, tooLarge });
}

/** Stores metrics as points of the service, if it has that capability. Returns why they were not stored, else null. */
async function takeMetrics(
  context: IngestContext,
  target: IngestTarget,
  metrics: readonly SentMetric[],
): Promise<AppError | null> {
  if (metrics.length === 0) return null;
  const { serviceId } = target;
  const notKept = (reason: string, count = metrics.length): void =>
    context.telemetry.count(serviceId, 'metric', reason, count);
  if (!target.capabilities.includes('metrics')) {
    notKept('not_enabled');
    return null;
  }
  try {
    const ofKey = await context.unpacking.run(serviceId, () => context.sentryMetrics.listOfKey(serviceId, metrics));
    const others = metrics.filter(({ name }) => !ofKey.has(name));
    if (others.length < metrics.length) notKept('key_only', metrics.length - others.length);
    const prepared = context.sentryMetrics.prepare(serviceId, others);
    if (prepared === null) return null;
    await takePoints(context, target, async () => prepared.decode);
    prepared.remember();
    return null;
  } catch (error) {
    const appError = toAppError(error);
    if (appError.code === 'internal') throw error;
    notKept(appError.code);
    return appError;
  }
}

/** Throws if the request brought nothing but check-ins that were refused. */
function requireTaken(
  { taken, faults }: { readonly taken: number; readonly faults: readonly string[] },
  { events, besides }: SentryDelivery,
): void {
  const isRefused = besides.checkIns.length > 0 && taken === 0 && events.length === 0 && faults.length > 0;
  if (isRefused) throw checkInRefused(faults);
}

/** Whether nothing of the request was taken, because everything was over its limit. */
function isEmpty({ events, besides }: SentryDelivery): boolean {
  return events.length === 0 && Object.values(besides).every((items) => items.length === 0);
}

/** Removes characters that a header cannot hold. */
export function asHeader(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 1_000);
}

const WHERE_EVENTS_GO =
  'clients send events, files, feedback, sessions and check-ins in envelopes to the address in the DSN';

const TOO_LARGE =
  'the event is larger than 1 MiB, even without its variables, context lines and breadcrumbs; send less with it';

/** Time for which a client whose data is unwanted sends nothing. */
const QUIET_SECONDS = 3_600;

/** Returns the headers of an error. A limit applies to everything that clients send unless its categories are named. */
export function headersOf(
  { code, message, retryAfterSeconds = 60 }: AppError,
  limits: string | null,
): Record<string, string> {
  const error = { 'x-sentry-error': asHeader(message) };
  if (code === 'unauthenticated' || code === 'forbidden') {
    return { ...error, 'x-sentry-rate-limits': quietHeader(QUIET_SECONDS, 'disabled') };
  }
  return code === 'rate_limited'
    ? { ...error, 'x-sentry-rate-limits': limits ?? quietHeader(retryAfterSeconds) }
    : error;
}

function inflateCounting(count: (bytes: number) => void): Inflate {
  return (body, contentEncoding) => inflate(body, contentEncoding, { ...SENTRY_BODY_LIMITS, count });
}

function toSentryRequest(
  kind: SentryRequest['kind'],
  request: FastifyRequest<SentryRoute>,
  { clock }: IngestContext,
): SentryRequest {
  return {
    kind,
    headers: request.headers,
    query: request.query,
    body: rawBodyOf(request),
    clientIp: request.ip,
    receivedAt: clock.now(),
  };
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('allow', 'POST, OPTIONS');
  throw new AppError('method_not_allowed', 'data is sent with POST');
}
