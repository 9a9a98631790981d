import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

import type { House } from '#entry/compose.ts';
import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';

interface Check {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  readonly error?: string;
}

const CHECK_TIMEOUT_MS = 3_000;
/** The lag of the event loop is sampled this often: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/**
 * `/healthz`: the process and each store, with latencies; 503 when one is down. `/readyz`: whether to send traffic
 * here; 503 while starting or draining. `/metrics`: the process about itself, as Prometheus text.
 */
export function mountHealth(app: FastifyInstance, house: House): void {
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
    const stores = await checkAll();
    const isUp = Object.values(stores).every(({ status }) => status === 'up');
    return reply.code(isUp ? 200 : 503).send({
      status: isUp ? 'up' : 'down',
      process: { uptimeSeconds: Math.round(process.uptime()), residentBytes: process.memoryUsage.rss() },
      stores,
    });
  });

  app.get('/readyz', async (_request, reply) => {
    const isReady = !isDraining && Object.values(await checkAll()).every(({ status }) => status === 'up');
    return reply.code(isReady ? 200 : 503).send({ ready: isReady });
  });

  mountMetrics(app, house);
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

function rejectAfter(milliseconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds).unref();
  });
}

function mountMetrics(app: FastifyInstance, house: House): void {
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
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    requests.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}
