import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { routesFor, type IngestContext } from '#entry/http/ingest_context.ts';
import { sendProblem, toAppError } from '#entry/http/problem.ts';
import { rawBodyOf } from '#entry/http/raw_body.ts';
import { answerPreflight, INGEST_CORS } from '#entry/http/ingest_cors.ts';
import { setSender } from '#entry/http/sender.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import { inflate } from '#ingest/inflate.ts';
import { sentryKeyOf } from '#ingest/protocols/sentry/auth.ts';
import { readFirstLine } from '#ingest/protocols/sentry/first_line.ts';
import {
  decodeSentryRequest,
  SENTRY_BODY_LIMITS,
  SENTRY_ENDPOINTS,
  SENTRY_PROJECT_PATTERN,
  type SentryDelivery,
  type SentryRequest,
} from '#ingest/protocols/sentry.ts';
import { AppError } from '#kernel/errors.ts';
import type { IngestTarget } from '#storage/postgres/ingest_key_store.ts';

interface SentryRoute {
  /** No project in the address of a tunnel. */
  readonly Params: { readonly projectId?: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Mounts the routes that Sentry's clients derive from a DSN. Browsers may read every answer, including errors. */
export function mountSentryIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  const open = async (request: FastifyRequest, key: string | null, projectId: string): Promise<IngestTarget> => {
    const target = await context.badKeys.guard(request.ip, () => context.access.openExceptions(key, projectId));
    targets.set(request, target);
    setSender(request, target.serviceId);
    await context.eventRates.check(target.serviceId);
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
    void reply.headers(headersOf(toAppError(error), targets.has(request)));
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
          const key = sentryKeyOf(request.headers, request.query);
          // Without both, they are in the first line of the envelope.
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
          const delivery = await context.unpacking.run(target.serviceId, () =>
            decodeSentryRequest(toSentryRequest(kind, request, context), inflateSentry),
          );
          const { eventId, events, dropped } = delivery;
          await context.beside.accept(target.serviceId, delivery);
          const tooLarge = dropped.filter(({ type, reason }) => type === 'event' && reason === 'too_large').length;
          if (events.length === 0 && tooLarge > 0) throw new AppError('payload_too_large', TOO_LARGE);
          if (events.length > 0) {
            const taking = () => context.intake.acceptEvents(target, events);
            await context.eventRates.spend(target.serviceId, events.length, taking);
          }
          const faulty = dropped.filter(
            ({ type, reason }) => type === 'event' && (reason === 'malformed' || reason === 'too_many'),
          ).length;
          context.counters.countEvents(target.serviceId, events.length, { faulty, tooLarge });
          const refused = await takeCheckIns(context, target, delivery);
          if (refused !== null) void reply.header('x-sentry-error', asHeader(refused));
          return { id: eventId };
        },
      });
      scope.options(url, answerPreflight);
      scope.route({ method: ['GET', 'PUT', 'PATCH', 'DELETE'], url, onRequest: refuseMethod, handler: () => {} });
    }
  }
}

/** What is wrong with the check-ins of the request, if anything. Throws when nothing of the request is taken because of it. */
async function takeCheckIns(
  context: IngestContext,
  target: IngestTarget,
  { besides: { checkIns }, events }: SentryDelivery,
): Promise<string | null> {
  if (checkIns.length === 0) return null;
  const { taken, faults } = await context.checkIns.accept(target, checkIns);
  if (taken === 0 && events.length === 0 && faults.length > 0) throw checkInRefused(faults);
  return faults.length === 0 ? null : faults.join('; ');
}

/** A header holds no other characters. */
export function asHeader(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 1_000);
}

const TOO_LARGE =
  'the event is larger than 1 MiB, even without its variables, context lines and breadcrumbs; send less with it';

/** Quiets a client whose data is not wanted: it sends nothing for an hour. */
const QUIET = '3600::organization:disabled';

/** What a client may still send, besides exceptions, is its own business. */
const EXCEPTIONS_OF_KEY = 'error;default:key';
const EVERYTHING = ':organization';

export function headersOf(
  { code, message, retryAfterSeconds = 60 }: AppError,
  isKeyGood: boolean,
): Record<string, string> {
  const error = { 'x-sentry-error': asHeader(message) };
  if (code === 'unauthenticated' || code === 'forbidden') return { ...error, 'x-sentry-rate-limits': QUIET };
  if (code !== 'rate_limited') return error;
  const scope = isKeyGood ? EXCEPTIONS_OF_KEY : EVERYTHING;
  return { ...error, 'x-sentry-rate-limits': `${retryAfterSeconds}:${scope}` };
}

function inflateSentry(body: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  return inflate(body, contentEncoding, SENTRY_BODY_LIMITS);
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
