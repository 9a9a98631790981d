import { createHash, timingSafeEqual } from 'node:crypto';

import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { versionText } from '#entry/cli/version.ts';
import type { AppContext } from '#entry/compose.ts';
import { checkPager } from '#entry/foundation.ts';
import { cacheForASecond } from '#entry/http/health.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { limitCounter, type MetricsText, openProcessRegistry } from '#entry/process_port.ts';
import type { IngestCounters } from '#ingest/ingest_counters.ts';
import { AppError } from '#kernel/errors.ts';
import type { PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import { isBehind } from '#modules/rules/decide/breach.ts';
import { refusalHour } from '#modules/services/store/ingest_counts.ts';
import { storesOf } from '#modules/stores.ts';
import type { Ingested } from '#modules/services/decide/ingest_refusal.ts';
import { storePoints } from '#storage/queue/jobs.ts';

/**
 * Mounts `/metrics`, the metrics of this process as Prometheus text, behind a token. Returns a function that resolves
 * to the same text for a listener without one.
 */
export function mountMetrics(
  app: FastifyInstance,
  context: AppContext,
  counters: IngestCounters,
  limits: SharedLimits,
): () => Promise<MetricsText> {
  const registry = openProcessRegistry();
  const requests = new Histogram({
    name: 'tocsin_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  registry.registerMetric(
    readings(
      Gauge,
      'tocsin_queue_jobs',
      'Jobs by queue: ready ones wait or run, the time of delayed ones has not come.',
      ['queue', 'state'],
      async () =>
        Object.entries(await context.queue.depths()).flatMap(([queue, { ready, delayed }]) => [
          { labels: { queue, state: 'ready' }, count: ready },
          { labels: { queue, state: 'delayed' }, count: delayed },
        ]),
    ),
  );
  registerIngestCounters(registry, counters);
  registerPagerGauges(registry, context);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const seconds = reply.elapsedTime / 1000;
    requests.observe({ method: request.method, route, status: String(reply.statusCode) }, seconds);
    const kind = request.method === 'POST' && reply.statusCode < 300 ? ingestedBy(route) : null;
    if (kind !== null) context.latencies.observe('accept', seconds, kind);
  });
  registry.registerMetric(buildInfo());
  registerIngestFigures(registry, context, limits);
  const render = cacheForASecond(context.clock, async () => `${await registry.metrics()}\n${context.latencies.text()}`);
  app.get('/metrics', async (request, reply) => {
    requireMetricsToken(context.config.metricsToken, request.headers.authorization);
    return reply.type(registry.contentType).send(await render());
  });
  return async () => ({ contentType: registry.contentType, text: await render() });
}

/** Throws unless the token is right. Metrics reveal the names and load of services, so the public port requires it. */
function requireMetricsToken(token: string | undefined, authorization: string | undefined): void {
  if (token === undefined) {
    throw new AppError(
      'unauthenticated',
      'metrics are closed on this port; the operator sets METRICS_TOKEN or METRICS_PORT',
    );
  }
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))) {
    throw new AppError('unauthenticated', 'send the value of METRICS_TOKEN as Authorization: Bearer');
  }
}

/** Returns the kind of data that a route ingests; null for any other route. */
function ingestedBy(route: string): Ingested | null {
  if (/\/(envelope|store)\/?$/.test(route)) return 'events';
  return /\/api\/ingest\//.test(route) ? 'points' : null;
}

function buildInfo(): Gauge {
  const { version } = JSON.parse(versionText(['--json'])) as { version: string };
  const gauge = new Gauge({
    name: 'tocsin_build_info',
    help: 'Always 1; the version of the program is its label.',
    labelNames: ['version'],
    registers: [],
  });
  gauge.set({ version }, 1);
  return gauge;
}

/** Limit on the count of waiting jobs. Greater numbers are not told apart: workers are far too few by then. */
const WAITING_JOBS_MAX = 100_000;

/** Registers figures of what waits, is quarantined or is refused. */
function registerIngestFigures(registry: Registry, context: AppContext, { processes }: SharedLimits): void {
  const { db, clock, actions, reachedLimits } = context;
  const stores = () => storesOf(db.session());
  const quarantined = '"tocsin quarantine list" shows them.';
  const metrics = [
    figure(
      'tocsin_ingest_quarantined_events',
      `Events that took too long to read and wait to be tried again; ${quarantined}`,
      async () => (await stores().quarantinedEvents.summary(null)).events,
    ),
    figure(
      'tocsin_ingest_quarantined_jobs',
      `Bundles of points and of events that made workers crash and wait to be tried again; ${quarantined}`,
      async () => (await stores().quarantinedJobs.summary(null)).jobs,
    ),
    figure(
      'tocsin_services_waiting_for_points',
      'Services whose points wait to be stored for over 5 s; rules over short windows do not judge them meanwhile.',
      async () => {
        const now = clock.now();
        const waiting = await stores().durableJobs.listWaiting(storePoints.name);
        return [...waiting.values()].filter((since) => isBehind(1, since, now)).length;
      },
    ),
    figure(
      'tocsin_ingest_waiting_jobs',
      `Bundles of points and of events that are accepted and not stored yet, of all processes; counted to ${WAITING_JOBS_MAX}.`,
      () => stores().durableJobs.count(WAITING_JOBS_MAX),
    ),
    limitCounter(reachedLimits),
    readings(
      Counter,
      'tocsin_quantiles_refused_total',
      'Questions of charts and callers for a quantile of a gauge or a counter, which have none.',
      ['kind'],
      () => Object.entries(actions.metrics.refusedQuantiles).map(([kind, count]) => ({ labels: { kind }, count })),
    ),
    figure(
      'tocsin_api_processes',
      'API processes that are alive, as far as this one knows; they share the limits of their callers.',
      processes,
    ),
    readings(
      Gauge,
      'tocsin_ingest_refused_this_hour',
      'Points and events that met a limit or were refused since the hour began, by reason; the ingest status of a service shows its own.',
      ['reason'],
      async () => {
        const counts = await stores().ingestRefusals.countByReason(refusalHour(clock.now()));
        return [...counts].map(([reason, count]) => ({ labels: { reason }, count }));
      },
    ),
  ];
  for (const metric of metrics) registry.registerMetric(metric);
}

/** Returns a gauge of one number; NaN while it cannot be read, as when the database is unavailable. */
function figure(name: string, help: string, read: () => number | Promise<number>): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      this.set(await (async () => await read())().catch(() => NaN));
    },
  });
}

/** Returns a counter or gauge that is read whole; empty while it cannot be read. */
function readings(
  Kind: typeof Counter | typeof Gauge,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Iterable<Reading> | Promise<Iterable<Reading>>,
): Counter | Gauge {
  const metric: Counter | Gauge = new Kind({
    name,
    help,
    labelNames: [...labelNames],
    registers: [],
    async collect() {
      metric.reset();
      const all = await (async () => await read())().catch(() => []);
      for (const { labels, count } of all) metric.inc(labels, count);
    },
  });
  return metric;
}

/** Registers gauges of what keeps people from being paged in time; NaN while the database is unavailable. */
function registerPagerGauges(registry: Registry, context: AppContext): void {
  let underWay: Promise<PagerHealth | null> | null = null;
  /** Checks the pager once for all gauges of a scrape. */
  const look = (): Promise<PagerHealth | null> =>
    (underWay ??= checkPager(context)
      .catch(() => null)
      .finally(() => (underWay = null)));
  const register = (name: string, help: string, of: (health: PagerHealth) => number): void => {
    registry.registerMetric(
      figure(name, help, async () => {
        const health = await look();
        return health === null ? NaN : of(health);
      }),
    );
  };
  register(
    'tocsin_pager_problems',
    'How many things keep people from being paged in time; /healthz names them.',
    ({ problems }) => problems.length,
  );
  register(
    'tocsin_unseen_data_seconds',
    'Age of the oldest accepted event or point that no rule has seen.',
    (health) => health.unseenDataSeconds,
  );
  register(
    'tocsin_pager_silent_seconds',
    'How long ago a pager process was last at work.',
    (health) => health.pagerSilentSeconds,
  );
  register(
    'tocsin_worker_silent_seconds',
    'How long every worker process has been frozen or gone; 0 while one is alive.',
    (health) => health.workerSilentSeconds,
  );
  register(
    'tocsin_overdue_step_seconds',
    'How long ago the oldest escalation step that has not fired was due; 0 for none.',
    (health) => health.overdueStepSeconds,
  );
  register(
    'tocsin_overdue_message_seconds',
    'How long ago the oldest message that has not left was due; 0 for none.',
    (health) => health.overdueMessageSeconds,
  );
}

/** Registers the counters of ingestion with Prometheus; services are labelled by their id. */
function registerIngestCounters(registry: Registry, counters: IngestCounters): void {
  const register = (name: string, help: string, labelNames: readonly string[], read: () => Iterable<Reading>): void =>
    registry.registerMetric(readings(Counter, name, help, labelNames, read));
  register('tocsin_ingest_taken_total', 'Points and events taken.', ['kind'], () =>
    Object.entries(counters.accepted).map(([kind, count]) => ({ labels: { kind }, count })),
  );
  register(
    'tocsin_ingest_refused_total',
    'Points and events refused of requests of which the rest was taken, or which held nothing else.',
    ['kind', 'reason', 'service'],
    () => counters.refusedItems.list().map(toReading),
  );
  register(
    'tocsin_ingest_refused_requests_total',
    'Requests of known services that were refused as a whole.',
    ['kind', 'code', 'service'],
    () => counters.refusedRequests.list().map(toReading),
  );
  register(
    'tocsin_ingest_type_changes_total',
    'Metrics of which a sender said another type than was said before.',
    ['service'],
    () => counters.typeChanges.list().map(toReading),
  );
}

interface Counted {
  readonly labels: { readonly serviceId: string };
  readonly count: number;
}

interface Reading {
  readonly labels: Record<string, string>;
  readonly count: number;
}

function toReading({ labels, count }: Counted): Reading {
  const { serviceId, ...others } = labels;
  return { labels: { ...others, service: serviceId }, count };
}
