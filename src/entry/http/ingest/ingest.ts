import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { createBadKeyLimiter } from '#auth/sign_in_limiter.ts';
import { createCipher } from '#auth/cipher.ts';
import { createIngestAccess } from '#auth/ingest_access.ts';
import type { AppContext } from '#entry/compose.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { answerPreflight, INGEST_CORS, type IngestContext, routesFor } from '#entry/http/ingest/ingest_context.ts';
import { mountDeployIngest } from '#entry/http/ingest/ingest_deploys.ts';
import { openIngestPorts } from '#entry/http/ingest/ingest_ports.ts';
import { asHeader, headersOf, mountSentryIngest } from '#entry/http/ingest/ingest_sentry.ts';
import { openAlertIngest } from '#entry/http/ingest/open_alert_ingest.ts';
import { takePoints } from '#entry/http/ingest/take_points.ts';
import { beginRefusal, sendProblem, toAppError } from '#entry/http/problem.ts';
import { contentTypeOf, parseRawBodies, rawBodyOf } from '#entry/http/request_body.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { CheckInIntake, checkInRefused } from '#ingest/check_in_intake.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { ExemplarRecorder } from '#ingest/exemplar_recorder.ts';
import { inflate } from '#ingest/inflate.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { openIntake } from '#ingest/intake.ts';
import { findReachedLimit, limitsHeader, openItemLimiters } from '#ingest/item_limits.ts';
import type { MetricProtocol } from '#ingest/protocol.ts';
import { OTHER_SIGNALS, OTLP_METRICS, signalNotTaken } from '#ingest/protocols/otlp_metrics.ts';
import { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { SENTRY_PROJECT_PATTERN } from '#ingest/protocols/sentry.ts';
import { parseDsn, sentryKeyOf } from '#ingest/protocols/sentry/auth.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import { asEventId } from '#ingest/protocols/sentry/values.ts';
import { RateLimiter } from '#ingest/rate_limiter.ts';
import { RefusalRecorder } from '#ingest/refusal_recorder.ts';
import { RefusedBytes } from '#ingest/refused_bytes.ts';
import { METRIC_PROTOCOLS } from '#ingest/registry.ts';
import { SentryMetrics } from '#ingest/sentry_metrics.ts';
import { SeriesQuota } from '#ingest/series/series_quota.ts';
import { ServiceStarts } from '#ingest/series/series_starts.ts';
import { ServiceTypes } from '#ingest/series/service_types.ts';
import { TelemetryRecorder } from '#ingest/telemetry_recorder.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { AppError } from '#kernel/errors.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Temporal } from '#kernel/time.ts';
import { findMetricsOfKey } from '#modules/metrics/store/metric_catalog.ts';
import { ExemplarStore } from '#modules/metrics/store/exemplar_store.ts';
import { findSharedSeries } from '#modules/metrics/store/series_day_store.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';
import { storesOf } from '#modules/stores.ts';

/** Limits on bodies that are decompressed at the same time: as many as libuv has threads. */
const UNPACKING = { concurrency: 4, concurrencyPerKey: 2 };
const MEGABYTE = 1024 * 1024;

/** Mounts the routes for metrics, exceptions and deploys. Closing the app first stores everything they accepted. */
export async function mountIngest(
  app: FastifyInstance,
  context: AppContext,
  counters: IngestCounters,
  { disk, limits }: { readonly disk: DiskSpace; readonly limits: SharedLimits },
): Promise<void> {
  const { clock, config, db, log, reachedLimits } = context;
  const { openLimit } = limits;
  const spoolFolder = path.resolve(config.dataDir, 'spool');
  const telemetry = new TelemetryRecorder({
    db,
    clock,
    log,
    cipher: createCipher(config.appSecret, 'event-attachments'),
  });
  const ingest: IngestContext = {
    access: createIngestAccess(db, clock, log),
    badKeys: createBadKeyLimiter(clock, limits),
    intake: openIntake({
      queue: context.queue,
      queueBytesMax: config.ingestQueueMegabytes * MEGABYTE || Infinity,
      disk,
      clock,
      log,
      cipher: createCipher(config.appSecret, 'waiting-events'),
      spoolFolder,
      processes: limits.processes,
      reportSpooled: reportSpooledIn(context, spoolFolder),
      onNewSeries: (count) => context.newSeries.add(count),
    }),
    unpacking: new KeyedLimit(UNPACKING),
    refusedBytes: new RefusedBytes({ megabytesPerMinute: config.refusedMegabytesPerMinute, openLimit }),
    pointRates: new RateLimiter({
      perSecond: config.ingestPointsPerSecond,
      noun: 'points',
      limit: 'ingestPointsPerSecond',
      openLimit,
    }),
    itemLimits: openItemLimiters(
      (noun) =>
        new RateLimiter({ perSecond: config.ingestEventsPerSecond, noun, limit: 'ingestEventsPerSecond', openLimit }),
    ),
    sentryMetrics: new SentryMetrics({
      clock,
      findOfKey: (serviceId, metrics) => findMetricsOfKey(context.clickhouse, serviceId, metrics),
    }),
    starts: new ServiceStarts((serviceId) => findSharedSeries(context.clickhouse, serviceId, clock.now()), clock),
    types: new ServiceTypes({ db, clock, log }),
    series: new SeriesQuota({ perDayMax: config.ingestSeriesPerDay, processes: limits.processes, db, clock, log }),
    counters,
    exemplars: new ExemplarRecorder({ store: new ExemplarStore(context.clickhouse), log }),
    telemetry,
    checkIns: new CheckInIntake({
      db,
      clock,
      log,
      telemetry,
      spoolFolder: path.resolve(config.dataDir, 'spool_check_ins'),
    }),
    clock,
    log,
    reachedLimits,
    tunnelPaths: [INGEST_PATHS.sentry_tunnel, config.ingestTunnelPath].filter((path) => path !== undefined),
    prefixes: [...new Set(['', new URL(config.baseUrl).pathname.replace(/\/+$/, '')])],
  };
  const refusals = new RefusalRecorder({ counters, db, clock, log });
  const { trustedProxies } = config;
  const ports = openIngestPorts(app, context, ingest, { reachedLimits, trustedProxies, processes: limits.processes });
  app.addHook('onClose', async () => {
    await ports.close();
    await ingest.checkIns.close();
    await Promise.all([
      ingest.intake.close(),
      ingest.series.close(),
      ingest.types.close(),
      ingest.telemetry.close(),
      ingest.exemplars.close(),
      refusals.close(),
    ]);
  });
  for (const mount of [mountMetricIngest, mountSentryIngest, mountCronIngest]) {
    await app.register(async (scope) => {
      parseRawBodies(scope);
      mount(scope, ingest);
    });
  }
  await openAlertIngest(app, context, ingest, limits);
  await app.register(async (scope) => mountDeployIngest(scope, ingest, context.actions));
}

/** Age at which reports about a folder that no process reads any more are deleted: it is gone, or out of reach. */
const SPOOL_REPORT_HOURS = 1;

function reportSpooledIn({ db, clock }: AppContext, folder: string) {
  const place = `${os.hostname()}:${folder}`;
  return async (oldestAt: Temporal.Instant | null): Promise<void> => {
    const now = clock.now();
    const dropBefore = now.subtract({ hours: SPOOL_REPORT_HOURS });
    await storesOf(db.session()).spooledData.report(place, oldestAt, { now, dropBefore });
  };
}

interface CronRoute {
  readonly Params: {
    readonly slug: string;
    readonly projectId?: string;
    readonly key?: string;
    /** Run that is updated: an id, or `latest`. */
    readonly runId?: string;
  };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/**
 * Addresses of check-ins before 2023, with `Authorization: DSN …`: a run begins with POST and is updated with PUT. Old
 * versions of `sentry-cli` and scripts use them.
 */
const OLDER_CHECK_IN_PATHS = [
  '/api/0/organizations/:org/monitors/:slug/checkins',
  '/api/0/monitors/:slug/checkins',
].flatMap((path) => [path, `${path}/:runId`]);

const newRunId = (): string => randomUUID().replaceAll('-', '');

/** Limit on the body, a schedule and a status: real ones have a few hundred bytes. */
const BODY_BYTES_MAX = 64 * 1024;

const NO_CHECK_IN =
  'report the status of the run: ?status=in_progress, ?status=ok or ?status=error, or the same as "status" in a JSON body';

/** Whether the request has the ingestion key, which must not be used in browsers. */
function hasIngestionKey({ authorization, ...headers }: FastifyRequest['headers']): boolean {
  return headers['x-api-key'] !== undefined || /^(Bearer|Basic) /i.test(authorization ?? '');
}

/** Mounts the addresses where scheduled jobs without an SDK check in: with `curl`, or with a GET. */
function mountCronIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  const limited = new WeakMap<FastifyRequest, string>();
  const byKey = new WeakSet<FastifyRequest>();
  scope.addHook('onRequest', async (_request, reply) => {
    void reply.headers(INGEST_CORS);
  });
  scope.setErrorHandler((error, request, reply) => {
    void reply.headers(headersOf(toAppError(error), limited.get(request) ?? null));
    return sendProblem(error, request, reply, context.log);
  });
  const path = INGEST_PATHS.sentry_cron.replace(':projectId', `:projectId(${SENTRY_PROJECT_PATTERN})`);
  const current = [path, path.replace('/:key', '')].flatMap((template) => routesFor(template, context));
  const older = OLDER_CHECK_IN_PATHS.flatMap((template) => routesFor(template, context));
  for (const url of [...current, ...older]) {
    scope.route<CronRoute>({
      method: older.includes(url) ? ['POST', 'PUT'] : ['GET', 'POST'],
      url,
      bodyLimit: BODY_BYTES_MAX,
      exposeHeadRoute: false,
      async onRequest(request) {
        const dsn = parseDsn(/^DSN\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]);
        const { projectId = dsn?.projectId ?? '', key = dsn?.publicKey } = request.params;
        const sent = sentryKeyOf(request.headers, { ...request.query, ...(key !== undefined && { sentry_key: key }) });
        const isByKey = projectId !== '' && sent === null && hasIngestionKey(request.headers);
        const target = await context.badKeys.guard(request.ip, () =>
          isByKey
            ? context.access.openProject(request.headers, projectId)
            : context.access.openExceptions(sent, projectId),
        );
        if (isByKey) byKey.add(request);
        targets.set(request, target);
        setSender(request, target.serviceId);
      },
      async handler(request, reply) {
        const target = targets.get(request);
        if (target === undefined) throw new Error('the request was not authenticated');
        const { slug, runId, projectId } = request.params;
        const sent = readCheckInRequest(slug, request.query, rawBodyOf(request));
        if (sent === null) throw new AppError('invalid_input', NO_CHECK_IN);
        // The older addresses name the run in the answer, and by it afterwards.
        const isOlder = projectId === undefined;
        const named = asEventId(runId) ?? (isOlder && runId === undefined ? newRunId() : null);
        const checkIn = { ...sent, runId: sent.runId ?? named };
        const kind = byKey.has(request) ? 'keyCheckIns' : 'checkIns';
        const reached = await findReachedLimit(context.itemLimits, kind, target.serviceId, 1);
        if (reached !== null) {
          limited.set(request, limitsHeader([reached]));
          throw reached.error;
        }
        const { taken, faults } = await context.checkIns.accept(target, [checkIn], byKey.has(request));
        if (taken === 0) throw checkInRefused(faults);
        if (faults.length > 0) void reply.header('x-sentry-error', asHeader(faults.join('; ')));
        if (isOlder) {
          const id = checkIn.runId ?? runId;
          return await reply.code(runId === undefined ? 201 : 200).send({ id, status: checkIn.status });
        }
        return await reply.code(202).send({ slug: checkIn.slug, faults });
      },
    });
    scope.options(url, answerPreflight);
  }
}

function takesNothing(url: string): AppError {
  const right = `send metrics as JSON to ${INGEST_PATHS.metrics_json}, by OTLP to ${INGEST_PATHS.otlp_metrics}, by remote write to ${INGEST_PATHS.prometheus_write}`;
  return new AppError('not_found', `nothing is served at ${url.split('?')[0]}: ${right}`);
}

/**
 * Mounts the routes that accept points, one for each protocol. The key is checked before the body is read. GET says
 * whether the key is valid, as some senders ask before they start.
 */
function mountMetricIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  /** Requests whose points are counted, each by its own reason. */
  const counted = new WeakSet<FastifyRequest>();
  const memory = new SeriesMemory();
  scope.addHook('onRequest', async (_request, reply) => {
    void reply.headers(INGEST_CORS);
  });
  scope.addHook('onError', async (request, _reply, error) => {
    const serviceId = targets.get(request)?.serviceId;
    if (serviceId === undefined || counted.has(request)) return;
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

  const ofSignals = OTHER_SIGNALS.flatMap(({ signal, path }) =>
    routesFor(INGEST_PATHS.otlp_metrics.replace('v1/metrics', path), context).map((url) => ({ url, signal })),
  );
  const others = context.prefixes.map((prefix) => ({ url: `${prefix}/api/ingest/*`, signal: null }));
  for (const { url, signal } of [...ofSignals, ...others]) {
    scope.route({
      method: 'POST',
      url,
      async onRequest(request, reply) {
        if (signal === null && !hasIngestionKey(request.headers)) return reply.callNotFound();
        const target = await context.badKeys.guard(request.ip, () => context.access.openMetrics(request.headers));
        targets.set(request, target);
        setSender(request, target.serviceId);
        throw signal === null ? takesNothing(request.url) : signalNotTaken(signal);
      },
      handler: () => {},
      errorHandler: (error, request, reply) => void refuse(OTLP_METRICS, error, request, reply),
    });
    if (signal !== null) scope.options(url, answerPreflight);
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
    counted.add(request);
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
