/** `npm run demo -- self`: an installation watches itself, by a service, rules and a dashboard of its own. */
import { setTimeout as delay } from 'node:timers/promises';

import { loadConfig } from '#entry/config.ts';
import { messageOf } from '#kernel/errors.ts';
import { connect } from '#infra/demo/client.ts';
import { findOrStartInstance } from '#infra/demo/instance.ts';
import { heading, line } from '#infra/demo/printing.ts';
import { Quantiles } from './quantiles.ts';
import { LATENCY_GAUGES, SERVICE_NAME, setUpSelf } from './set_up.ts';
import { readSamples, type Sample } from './prometheus_text.ts';

/** A process with a listener for its metrics. */
interface Process {
  readonly name: string;
  readonly url: string;
}

/** Samples that a process reported. */
interface Scraped {
  readonly process: string;
  readonly samples: readonly Sample[];
}

/** Default metrics that the dashboard shows; the others are left out. */
const OF_EVERY_PROCESS: ReadonlySet<string> = new Set(['process_cpu_seconds_total', 'process_resident_memory_bytes']);
/** One series for each route, status and bound: more than the dashboard shows. */
const NOT_EXPORTED = /^tocsin_http_request_duration_seconds/;

const passes = (name: string): boolean =>
  OF_EVERY_PROCESS.has(name) || (name.startsWith('tocsin_') && !NOT_EXPORTED.test(name));

/** Throws when the process does not answer. */
async function scrape({ name, url }: Process): Promise<Scraped> {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new Error(`${name} does not answer at ${url}: start Tocsin with the same METRICS_PORT`, { cause });
  });
  if (!response.ok) throw new Error(`${name} answered ${response.status} at ${url}`);
  return { process: name, samples: readSamples(await response.text(), passes) };
}

/** Sends samples by OTLP, which says what is a counter. Returns the number of samples taken. */
async function send(url: string, ingestionKey: string, scraped: readonly Scraped[]): Promise<number> {
  const timeUnixNano = `${Date.now()}000000`;
  const metrics = scraped.flatMap(({ process, samples }) =>
    samples.map(({ name, labels, value, kind }) => {
      const own = Object.entries({ ...labels, process });
      const attributes = own.map(([key, text]) => ({ key, value: { stringValue: text } }));
      const dataPoints = [{ timeUnixNano, attributes, asDouble: value }];
      return kind === 'gauge'
        ? { name, gauge: { dataPoints } }
        : { name, sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } };
    }),
  );
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }),
  });
  if (!response.ok) throw new Error(`Tocsin answered ${response.status}: ${await response.text()}`);
  return metrics.length;
}

const EVERY_MS = 15_000;
const USAGE = `npm run demo -- self [--once]: makes the service "${SERVICE_NAME}", its rules and its dashboard, and sends it the
metrics of every process each 15 s until Ctrl-C, or once. It uses the Tocsin that runs on DATA_DIR, which must have been started
with the same METRICS_PORT, or starts a temporary one.`;

export async function watchSelf(args: readonly string[]): Promise<void> {
  const isOnce = args.length === 1 && args[0] === '--once';
  if (args.length > 0 && !isOnce) {
    process.stderr.write(`${USAGE}\n`);
    process.exit(args.includes('--help') ? 0 : 2);
  }
  const metricsPort = Number(process.env['METRICS_PORT'] ?? 0) || 9_464;
  const instance = await findOrStartInstance(loadConfig().dataDir, { METRICS_PORT: String(metricsPort) });
  try {
    const { ingestionKey, made } = await setUpSelf(connect(instance));
    heading('Tocsin watches itself');
    for (const name of made) line(`made ${name}`);
    line(`look at it: ${instance.baseUrl}`);
    const processes = processesFrom(metricsPort);
    const quantiles = new Quantiles();
    const sending = (): Promise<void> =>
      sendOnce(`${instance.baseUrl}/api/ingest/otlp/v1/metrics`, ingestionKey, processes, quantiles);
    await sending();
    if (isOnce) return;
    for (;;) {
      await delay(EVERY_MS);
      await sending().catch((error: unknown) => line(`not sent: ${messageOf(error)}`));
    }
  } finally {
    await instance.stop();
  }
}

/** `npm start` gives the API METRICS_PORT, and the two beside it the ports that follow. */
function processesFrom(port: number): Process[] {
  return ['api', 'worker', 'pager'].map((name, index) => ({ name, url: `http://127.0.0.1:${port + index}/metrics` }));
}

async function sendOnce(
  url: string,
  ingestionKey: string,
  processes: readonly Process[],
  quantiles: Quantiles,
): Promise<void> {
  const scraped: Scraped[] = await Promise.all(processes.map((target) => scrape(target)));
  const all = scraped.flatMap(({ samples }) => samples);
  const gauges = LATENCY_GAUGES.flatMap(({ histogram, gauge }) => {
    const value = quantiles.next(all, histogram, 0.99);
    return value === null ? [] : [{ name: gauge, labels: {}, value, kind: 'gauge' as const }];
  });
  const sent = await send(url, ingestionKey, [...scraped, { process: 'all', samples: gauges }]);
  line(`sent ${sent} figures of ${scraped.length} processes`);
}
