import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { type AlertAccess, createAlertAccess } from '#auth/alert_access.ts';
import type { BadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { createExternalFetch } from '#auth/external_fetch.ts';
import type { AppContext } from '#entry/compose.ts';
import { type Config, externalFetchOptionsOf } from '#entry/config.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { AlertExchange } from '#entry/http/ingest/alert_exchange.ts';
import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { recordSentDeploy } from '#entry/http/ingest/ingest_deploys.ts';
import { beginRefusal, sendProblem, toAppError } from '#entry/http/problem.ts';
import { contentTypeOf, parseRawBodies, rawBodyOf } from '#entry/http/request_body.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { mailInDomainOf } from '#entry/installation.ts';
import { toListenFault } from '#entry/listen_fault.ts';
import { AlertBodies } from '#ingest/alert_bodies.ts';
import { AlertIntake } from '#ingest/alert_intake.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import { inflate } from '#ingest/inflate.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import type { AlertAnswer, AlertEndpoint, AlertRequest } from '#ingest/protocols/alerts/alert_protocol.ts';
import { findEndpoint } from '#ingest/protocols/alerts/find_endpoint.ts';
import { textIn } from '#ingest/protocols/alerts/json_reading.ts';
import { MAIL_BYTES_MAX, MAIL_ENDPOINT } from '#ingest/protocols/alerts/mail.ts';
import { parseSentJson } from '#ingest/protocols/alerts/parse_body.ts';
import { ALERT_ENDPOINTS } from '#ingest/protocols/alerts/registry.ts';
import { listenForMail, type MailListener, type MailRecipient } from '#ingest/protocols/alerts/smtp.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import type { RefusedBytes } from '#ingest/refused_bytes.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { ConfigError } from '#kernel/config.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { AlertTarget } from '#modules/alerts/store/alert_key_store.ts';
import { takeAlerts } from '#modules/alerts/take_alerts.ts';
import { isLockConflict, isUniqueViolation } from '#storage/postgres/faults.ts';

/** Bodies of alerts that are read at the same time; of one service fewer, so that its own wait for each other. */
const READING = { concurrency: 256, concurrencyPerKey: 64 };

/** Opens the way in for alerts of other tools. Closing the app first stores all that was accepted. */
export async function openAlertIngest(
  app: FastifyInstance,
  context: AppContext,
  { badKeys, checkIns, counters, refusedBytes, prefixes }: IngestContext,
  { openLimit }: SharedLimits,
): Promise<void> {
  const { db, clock, log, config, reachedLimits } = context;
  const incidentLimit = {
    incidents: config.incidentsPerService || Infinity,
    minutes: config.incidentsPerServiceMinutes,
  };
  const runtime = { db, clock, onOutbox: () => context.outbox.wake(), reachedLimits, incidentLimit };
  const intake = new AlertIntake({
    take: (sent) => takeAlerts(runtime, sent),
    mayRetry: (error) => isLockConflict(error) || isUniqueViolation(error),
    log,
  });
  const bodies = new AlertBodies(clock);
  const rates = new RateLimiter({
    perSecond: config.ingestAlertsPerSecond,
    noun: 'alerts',
    limit: 'ingestAlertsPerSecond',
    openLimit,
  });
  const exchange = new AlertExchange({
    db,
    clock,
    log,
    intake,
    rates,
    counters,
    cipher: context.actions.cipher,
    fetchOutside: createExternalFetch({ ...externalFetchOptionsOf(config), clock }),
    takeHeartbeat: async (owner, name) => {
      const checkIn = readCheckInRequest(name, { status: 'ok' }, Buffer.alloc(0));
      if (checkIn === null) throw new AppError('invalid_input', 'the heartbeat has no name');
      const { taken, faults } = await checkIns.accept(owner, [checkIn], true);
      if (taken === 0) throw checkInRefused(faults);
    },
    recordDeploy: (owner, deploy, origin) => recordSentDeploy(context.actions, owner, deploy, origin),
  });
  const access = createAlertAccess(db, clock, log);
  const doors = { bodies, exchange, rates, reading: new KeyedLimit(READING), clock };
  const mail = openMailIngest(app, config, { ...doors, access, badKeys, counters, log });
  app.addHook('onClose', async () => {
    await mail.close();
    await intake.close();
    await bodies.close();
    await exchange.settled();
  });
  await app.register(async (scope) => {
    parseRawBodies(scope);
    const baseUrl = config.baseUrl.replace(/\/+$/, '');
    mountAlertIngest(scope, { ...doors, access, badKeys, counters, refusedBytes, log, baseUrl }, prefixes);
  });
}

interface MailIngestContext extends AlertDoors {
  readonly access: AlertAccess;
  readonly badKeys: BadKeyLimiter;
  readonly counters: IngestCounters;
  readonly log: Log;
}

/** Opens the port for alerts by mail once the app is ready, if there is one; the caller closes it. */
function openMailIngest(app: FastifyInstance, config: Config, context: MailIngestContext): { close(): Promise<void> } {
  const { mailInPort: port, mailInHost: host = config.host } = config;
  if (port === 0) return { close: async () => {} };
  const { access, badKeys, counters, exchange, log } = context;
  const open = async ({ key }: MailRecipient, address: string): Promise<AlertTarget> =>
    await badKeys.guard(address, () => access.open(key));
  const take = async (recipient: MailRecipient, bytes: Buffer, address: string): Promise<void> => {
    const target = await open(recipient, address);
    const path = recipient.name === '' ? {} : { name: recipient.name };
    const request = { method: 'POST', address: '', path, query: new URLSearchParams(), headers: {} };
    const origin = { requestId: newId('req'), address };
    try {
      const opened = { endpoint: MAIL_ENDPOINT, request, target, bytes, contentType: undefined, origin };
      await takeAlertRequest(context, opened);
    } catch (error) {
      const refusal = toAppError(error);
      counters.refusedRequests.add({ kind: 'alerts', code: refusal.code, serviceId: target.serviceId });
      exchange.noteRefusal(target, 'mail', refusal);
      throw error instanceof Error ? error : refusal;
    }
  };
  let listener: MailListener | null = null;
  app.addHook('onReady', async () => {
    const { mailInCertFile: certFile, mailInKeyFile: keyFile } = config;
    const tls = certFile === undefined || keyFile === undefined ? null : { certFile, keyFile };
    const domain = mailInDomainOf(config);
    try {
      listener = await listenForMail({
        host,
        port,
        domain,
        tls,
        bytesMax: MAIL_BYTES_MAX,
        check: async (recipient, address) => void (await open(recipient, address)),
        take,
        log,
      });
    } catch (error) {
      const fault = toListenFault(error, host, port, 'MAIL_IN_PORT');
      throw fault === null ? error : new ConfigError([fault.sentence]);
    }
    log.info({ host, port, domain }, 'listening for alerts by mail');
  });
  return { close: async () => await listener?.close() };
}

/** Collaborators that the addresses of alerts share. */
interface AlertIngestContext extends AlertDoors {
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
function mountAlertIngest(scope: FastifyInstance, context: AlertIngestContext, prefixes: readonly string[]): void {
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

/** Collaborators of every way in for alerts. */
interface AlertDoors {
  readonly bodies: AlertBodies;
  readonly exchange: AlertExchange;
  /** Alerts of one service a second. */
  readonly rates: RateLimiter;
  /** Large bodies are read one at a time for each service. */
  readonly reading: KeyedLimit;
  readonly clock: Clock;
}

/** A request whose key was checked. */
interface OpenedRequest {
  readonly endpoint: AlertEndpoint;
  readonly request: AlertRequest;
  readonly target: AlertTarget;
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  readonly origin: RequestOrigin;
}

/** Does what a request asks for, within the limits of its service; returns once it is stored, and throws an AppError. */
async function takeAlertRequest(
  { bodies, exchange, rates, reading, clock }: AlertDoors,
  { endpoint, request, target: { orgId, serviceId }, bytes, contentType, origin }: OpenedRequest,
): Promise<AlertAnswer> {
  const target = { orgId, serviceId };
  await rates.check(serviceId);
  return await reading.run(serviceId, async () => {
    try {
      const now = clock.now();
      const read = await bodies.read(orgId, endpoint, { bytes, contentType }, (parsed) =>
        endpoint.read({ ...request, ...parsed, now }, target),
      );
      const { protocol } = endpoint;
      const answered = await exchange.runApproved(target, protocol, read, origin);
      if (read.kind === 'alerts') exchange.keepBody(target, read.sent[0]?.source, bytes, null);
      if (read.kind === 'certified') exchange.keepBody(target, read.source, bytes, null);
      if (read.kind === 'mapped') exchange.keepBody(target, { protocol, name: read.name }, bytes, null);
      return answered;
    } catch (error) {
      const refusal = toAppError(error);
      if (refusal.code === 'invalid_input') {
        const source = { protocol: endpoint.protocol, name: request.path['name'] ?? '' };
        exchange.keepBody(target, source, bytes, refusal.message);
      }
      throw error;
    }
  });
}
