import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

import { type PagerLateness, pagerLateness } from '#core/oncall/pager.ts';
import type { House } from '#entry/compose.ts';
import { registerIngestCounters } from '#entry/http/ingest_counters.ts';
import type { IngestTally } from '#ingest/tally.ts';
import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';
import { storesOf } from '#storage/postgres/stores.ts';

interface Check {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  readonly error?: string;
}

const CHECK_TIMEOUT_MS = 3_000;
/** The lag of the event loop is sampled this often: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/**
 * `/healthz`: the process, each store with its latency, and the pager; 503 when a store is down or pages are late. `/readyz`: whether to send traffic
 * here; 503 while starting or draining. `/metrics`: the process about itself, as Prometheus text.
 */
export function mountHealth(app: FastifyInstance, house: House, tally: IngestTally): void {
  let isDraining = false;
  app.addHook('preClose', async () => {
    isDraining = true;
  });

  const checkAll = async () => {
    const [postgres, clickhouse, queue] = await Promise.all([
      check(() => house.db.sql.row('select 1')),
      check(() => house.clickhouse.query({ query: 'SELECT 1', format: 'JSONEachRow' }).then((result) => result.json())),
      check(() => house.queue.ping()),
    ]);
    return { postgres, clickhouse, queue: { ...queue, engine: house.queue.engine } };
  };

  app.get('/healthz', async (_request, reply) => {
    const [stores, pager] = await Promise.all([checkAll(), checkPager(house)]);
    const isUp = Object.values(stores).every(({ status }) => status === 'up');
    const status = isUp ? pager.status : 'down';
    return reply.code(status === 'up' ? 200 : 503).send({
      status,
      process: { uptimeSeconds: Math.round(process.uptime()), residentBytes: process.memoryUsage.rss() },
      stores,
      pager,
    });
  });

  app.get('/readyz', async (_request, reply) => {
    const isReady = !isDraining && Object.values(await checkAll()).every(({ status }) => status === 'up');
    return reply.code(isReady ? 200 : 503).send({ ready: isReady });
  });

  mountMetrics(app, house, tally);
}

async function check(work: () => Promise<unknown>): Promise<Check> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    await Promise.race([work(), rejectAfter(CHECK_TIMEOUT_MS)]);
    return { status: 'up', latencyMs: elapsed() };
  } catch (error) {
    return { status: 'down', latencyMs: elapsed(), error: redact(messageOf(error)) };
  }
}

interface PagerCheck {
  readonly status: 'up' | 'degraded' | 'down';
  readonly overdueStepSeconds: number | null;
  readonly overdueMessageSeconds: number | null;
}

/** Whether steps fire and messages leave in time, whichever worker should have seen to it. */
async function checkPager(house: House): Promise<PagerCheck> {
  try {
    const { isDegraded, ...overdue } = await Promise.race([findLateness(house), rejectAfter(CHECK_TIMEOUT_MS)]);
    return { status: isDegraded ? 'degraded' : 'up', ...overdue };
  } catch {
    return { status: 'down', overdueStepSeconds: null, overdueMessageSeconds: null };
  }
}

async function findLateness({ db, clock }: House): Promise<PagerLateness> {
  const now = clock.now();
  return pagerLateness(await storesOf(db.session()).overdue.find(now), now);
}

function rejectAfter(milliseconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds).unref();
  });
}

function mountMetrics(app: FastifyInstance, house: House, tally: IngestTally): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'tocsin_', eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  const requests = new Histogram({
    name: 'tocsin_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  const queueJobs = new Gauge({
    name: 'tocsin_queue_jobs',
    help: 'Jobs by queue: ready ones wait or run, the time of delayed ones has not come.',
    labelNames: ['queue', 'state'],
    registers: [],
    async collect() {
      for (const [queue, { ready, delayed }] of Object.entries(await house.queue.depths())) {
        this.set({ queue, state: 'ready' }, ready);
        this.set({ queue, state: 'delayed' }, delayed);
      }
    },
  });
  registry.registerMetric(queueJobs);
  registerIngestCounters(registry, tally);
  registry.registerMetric(
    overdueGauge('step', 'How long ago the oldest escalation step that has not fired was due; 0 for none.', house),
  );
  registry.registerMetric(
    overdueGauge('message', 'How long ago the oldest message that has not left was due; 0 for none.', house),
  );
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    requests.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}

/** Not a number while the database is away. */
function overdueGauge(what: 'step' | 'message', help: string, house: House): Gauge {
  return new Gauge({
    name: `tocsin_overdue_${what}_seconds`,
    help,
    registers: [],
    async collect() {
      const lateness = await findLateness(house).catch(() => null);
      this.set((what === 'step' ? lateness?.overdueStepSeconds : lateness?.overdueMessageSeconds) ?? NaN);
    },
  });
}
