import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { BadKeyLimiter } from '#auth/bad_key_limiter.ts';
import type { AlertAccess } from '#auth/alert_access.ts';
import { type AlertDoors, takeAlertRequest } from '#entry/http/ingest/take_alert_request.ts';
import { beginRefusal, sendProblem, toAppError } from '#entry/http/problem.ts';
import { contentTypeOf, rawBodyOf } from '#entry/http/request_body.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { inflate } from '#ingest/inflate.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import type { AlertAnswer, AlertEndpoint, AlertRequest } from '#ingest/protocols/alerts/alert_protocol.ts';
import { findEndpoint } from '#ingest/protocols/alerts/find_endpoint.ts';
import { textIn } from '#ingest/protocols/alerts/json_reading.ts';
import { parseSentJson } from '#ingest/protocols/alerts/parse_body.ts';
import { ALERT_ENDPOINTS } from '#ingest/protocols/alerts/registry.ts';
import type { RefusedBytes } from '#ingest/refused_bytes.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { AlertTarget } from '#modules/alerts/store/alert_key_store.ts';

/** Collaborators that the addresses of alerts share. */
export interface AlertIngestContext extends AlertDoors {
  readonly access: AlertAccess;
  readonly badKeys: BadKeyLimiter;
  readonly refusedBytes: RefusedBytes;
  readonly counters: IngestCounters;
  readonly log: Log;
  /** Public address, without a last slash. */
  readonly baseUrl: string;
}

/** 700 alerts of an Alertmanager are 3.4 MB: a smaller limit would fail just in a storm. */
const ALERT_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** State of a request while it is answered. */
interface Matched {
  readonly endpoint: AlertEndpoint;
  readonly request: AlertRequest;
  /** Null until the body says whose it is. */
  target: AlertTarget | null;
}

/**
 * Mounts the addresses at which other tools send alerts: one route for all, so that no address below is ever redirected or
 * answered with anything but JSON. The key is checked before the body is read where it does not stand in the body.
 */
export function mountAlertIngest(
  scope: FastifyInstance,
  context: AlertIngestContext,
  prefixes: readonly string[],
): void {
  const matched = new WeakMap<FastifyRequest, Matched>();
  scope.setErrorHandler((error, request, reply) => {
    const { endpoint, target } = matched.get(request) ?? {};
    const appError = toAppError(error);
    if (target != null) {
      context.counters.refusedRequests.add({ kind: 'alerts', code: appError.code, serviceId: target.serviceId });
      if (endpoint !== undefined) context.exchange.noteRefusal(target, endpoint.protocol, appError);
    }
    if (endpoint?.refuse === undefined) return sendProblem(error, request, reply, context.log);
    return send(reply, endpoint.refuse(beginRefusal(error, request, reply, context.log)));
  });
  for (const prefix of prefixes) {
    scope.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${prefix}${ALERTS_PATH}/*`,
      bodyLimit: ALERT_BODY_BYTES_MAX,
      exposeHeadRoute: false,
      async onRequest(request, reply) {
        const { pathname, search } = partsOf(request.url);
        const below = pathname.slice(pathname.indexOf(ALERTS_PATH) + ALERTS_PATH.length);
        const match = findEndpoint(ALERT_ENDPOINTS, request.method, below);
        if (match.kind === 'method') {
          void reply.header('allow', match.allowed.join(', '));
          throw new AppError('method_not_allowed', `this address takes ${match.allowed.join(', ')}`);
        }
        if (match.kind === 'unknown') {
          throw new AppError(
            'not_found',
            'no protocol for alerts has this address; the sources page shows those there are',
          );
        }
        const sent: AlertRequest = {
          method: request.method,
          address: `${context.baseUrl}${ALERTS_PATH}${below}`,
          path: match.path,
          query: new URLSearchParams(search),
          headers: request.headers,
        };
        const unmatched: Matched = { endpoint: match.endpoint, request: sent, target: null };
        matched.set(request, unmatched);
        const { keyOf } = match.endpoint;
        if (keyOf !== undefined) unmatched.target = await open(request, keyOf(sent));
      },
      async handler(request, reply) {
        const matchedTarget = matched.get(request);
        if (matchedTarget === undefined) throw new Error('the endpoint was found');
        return send(reply, await answer(request, matchedTarget));
      },
    });
  }

  const open = async (request: FastifyRequest, key: string | null): Promise<AlertTarget> => {
    const target = await context.badKeys.guard(request.ip, () => context.access.open(key));
    setSender(request, target.serviceId);
    return target;
  };

  const answer = async (request: FastifyRequest, match: Matched): Promise<AlertAnswer> => {
    const { endpoint, request: sent } = match;
    const raw = rawBodyOf(request);
    const encoding = request.headers['content-encoding']?.trim();
    const limits = { compressedBytesMax: ALERT_BODY_BYTES_MAX, inflatedBytesMax: ALERT_BODY_BYTES_MAX };
    const bytes = encoding === undefined || encoding === '' ? raw : await inflate(raw, encoding, limits);
    const contentType = contentTypeOf(request);
    if (endpoint.keyField !== undefined) {
      match.target = await open(request, keyInBody(bytes, contentType, endpoint.keyField));
    }
    if (match.target === null) throw new Error('the key was checked');
    const { target } = match;
    return await takeAlertRequest(context, {
      endpoint,
      request: sent,
      target,
      bytes,
      contentType,
      origin: { requestId: request.id, address: request.ip },
    });
  };
}

/** Larger bodies are parsed for those whose key is known, and no others. */
const PARSED_WITHOUT_KEY_BYTES_MAX = 64 * 1024;

function keyInBody(bytes: Buffer, contentType: string | undefined, name: string): string | null {
  if (bytes.length <= PARSED_WITHOUT_KEY_BYTES_MAX) return textIn(parseSentJson(bytes, contentType), name);
  const pattern = new RegExp(`"${name}"\\s{0,8}:\\s{0,8}"([a-z0-9]{32})"`);
  return pattern.exec(bytes.toString('latin1'))?.[1] ?? null;
}

function partsOf(url: string): { readonly pathname: string; readonly search: string } {
  const question = url.indexOf('?');
  return question === -1
    ? { pathname: url, search: '' }
    : { pathname: url.slice(0, question), search: url.slice(question + 1) };
}

function send(reply: FastifyReply, { status, body }: AlertAnswer): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
