import { once } from 'node:events';
import { createServer } from 'node:http';

import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';

import { readTimeZoneRules } from '#entry/time_zone_rules.ts';
import { LIMIT_SETTINGS, type LimitName } from '#kernel/limit_settings.ts';
import type { Log } from '#kernel/log.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';

/** Whether a process can do its work now, and if not, why. */
export interface Readiness {
  readonly ready: boolean;
  /** Reasons for not being ready; absent if the process is ready. */
  readonly because?: readonly string[];
}

/** State that a process reports about itself. */
export interface ProcessAnswers {
  readiness(): Promise<Readiness>;
  metrics(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/**
 * Opens a separate listener for orchestrators and scrapers, which no proxy makes public: `/livez` (the process answers,
 * whatever the stores do), `/readyz` (200 or 503) and `/metrics`.
 */
export async function openProcessPort(
  { host, port }: { readonly host: string; readonly port: number },
  answers: ProcessAnswers,
  log: Log,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const answer = async (path: string | undefined): Promise<void> => {
      if (path === '/livez') json(200, { live: true });
      else if (path === '/readyz') {
        const readiness = await answers.readiness();
        json(readiness.ready ? 200 : 503, readiness);
      } else if (path === '/metrics') {
        const { contentType, text } = await answers.metrics();
        response.writeHead(200, { 'content-type': contentType }).end(text);
      } else json(404, { error: 'there are /livez, /readyz and /metrics' });
    };
    answer(request.url?.split('?')[0]).catch((error: unknown) => {
      log.error({ err: error }, 'failed to answer a probe');
      response.writeHead(503).end();
    });
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 100;
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  log.info({ host, port: listening }, 'listening for probes and metrics');
  return {
    port: listening,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sampling interval of the lag of the event loop: each sample wakes the process. */
const LAG_PRECISION_MS = 200;

/** Metrics of the process. Garbage collection and event loop cannot be unwatched, so a process has one registry. */
let processMetrics: Registry | null = null;

function watchProcess(): Registry {
  const registry = new Registry();
  const { used, machine } = readTimeZoneRules();
  new Gauge({
    name: 'tocsin_time_zone_rules_info',
    help: 'Release of the time zone database by which hand-overs are computed, and that of the machine.',
    labelNames: ['used', 'machine'],
    registers: [registry],
  }).set({ used, machine: machine ?? '' }, 1);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  return registry;
}

/** Opens a registry with the metrics that every process has under the same names: processor, memory, event loop. */
export function openProcessRegistry(): Registry {
  processMetrics ??= watchProcess();
  return Registry.merge([processMetrics]);
}

/** Counter of the limits that callers of this process have reached. */
export function limitCounter(reachedLimits: ReachedLimits): Counter {
  return new Counter({
    name: 'tocsin_limits_met_total',
    help: 'How often a limit was reached by those who use this process; the log names who met it.',
    labelNames: ['limit'],
    registers: [],
    collect() {
      this.reset();
      for (const [name, { variable: limit }] of Object.entries(LIMIT_SETTINGS)) {
        this.inc({ limit }, reachedLimits.counts.get(name as LimitName) ?? 0);
      }
    },
  });
}
