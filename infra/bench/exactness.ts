import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';

import { counters, type Counter, SCRAPE_MS } from './exactness/counters.ts';
import {
  countsUpTo,
  exactQuantile,
  exponentialCounts,
  finestScale,
  type Observations,
  observations,
} from './exactness/observations.ts';
import { otlpExponential, remoteWrite, type Written } from './exactness/requests.ts';
import {
  type Bench,
  type BenchInstallation,
  printInputs,
  printTable,
  withFolder,
  withInstallation,
} from './harness.ts';
import { type Prometheus, prometheusVersion, startPrometheus } from './metrics/prometheus.ts';
import { REMOTE_WRITE_HEADERS } from './metrics/send_scrapes.ts';

const SEED = 20_270_301;
const QUANTILES = [0.5, 0.9, 0.95, 0.99, 0.999];
/** What Prometheus's clients take where nothing is said. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OTLP_BUCKETS_MAX = 160;
const SCRAPES = 180;
const WITHIN_MS = 30_000;

/** One value of a metric over the window, by the product or by Prometheus. */
type Ask = (question: string) => Promise<number | null>;

export const exactness: Bench = {
  name: 'exactness',
  about: 'quantiles and increases against an exact computation, beside Prometheus on the same bytes',
  run: async () => {
    const all = observations(SEED);
    printInputs({
      observations: `${all[0]?.sorted.length} of each; seed ${SEED}: ${all.map(({ name, about }) => `${name}, ${about}`).join('; ')}`,
      classic: `the ${BOUNDS.length} bounds that Prometheus's clients take by default, by remote write`,
      native: 'schema 3 (a bucket is 9 % wide), by remote write',
      exponential: `at the finest scale of ${OTLP_BUCKETS_MAX} buckets, by OTLP; stored in buckets that are 9 % wide`,
      counters: `${SCRAPES} scrapes of 15 s; "counted" is what samples show: rises, and what a counter has after a restart`,
      Prometheus: prometheusVersion() ?? 'not installed: left out',
    });
    await withFolder((folder) =>
      withInstallation(async (installation) => {
        const nowMs = Date.now();
        const writes = all.flatMap((one) => histogramsOf(one, nowMs));
        const counted = counters(SEED, nowMs - 60_000 - SCRAPES * SCRAPE_MS, SCRAPES);
        writes.push(...counted.map(({ name, samples }) => ({ labels: { __name__: `${name}_total` }, samples })));
        const body = remoteWrite(writes);
        const own = await sendToProduct(installation, body, all, nowMs);
        const prometheus = await sendToPrometheus(path.join(folder, 'prometheus'), body, nowMs);
        try {
          printTable(await quantileRows(all, own, prometheus?.ask ?? null));
          printTable(await counterRows(counted, own, prometheus?.ask ?? null));
        } finally {
          await prometheus?.server.stop();
        }
      }),
    );
  },
};

const startOf = (nowMs: number): number => nowMs - 90_000;
const endOf = (nowMs: number): number => nowMs - 30_000;

/** Nothing at first, and a minute later everything. */
function histogramsOf(of: Observations, nowMs: number): Written[] {
  const [start, end] = [startOf(nowMs), endOf(nowMs)];
  const bounds = [...BOUNDS, Infinity];
  const classic = countsUpTo(of, bounds).map((value, place): Written => {
    const bound = bounds[place] ?? Infinity;
    const le = bound === Infinity ? '+Inf' : String(bound);
    const samples = [
      { at: start, value: 0 },
      { at: end, value },
    ];
    return { labels: { __name__: `${of.name}_classic_bucket`, le }, samples };
  });
  const histograms = [
    { at: start, counts: new Map<number, number>() },
    { at: end, counts: exponentialCounts(of, 3) },
  ];
  return [...classic, { labels: { __name__: `${of.name}_native` }, histograms }];
}

async function sendToProduct(
  installation: BenchInstallation,
  body: Buffer,
  all: readonly Observations[],
  nowMs: number,
): Promise<Ask> {
  const client = connect({ ...installation, stop: async () => {} });
  const service = await client.action<{ serviceId: string; ingestionKey: string }>('create_service', { name: 'exact' });
  const { serviceId, ingestionKey } = service;
  await client.action('enable_capability', { serviceId, capability: 'metrics' });
  const authorization = `Bearer ${ingestionKey}`;
  const base = `${installation.baseUrl}/api/ingest`;
  await post(`${base}/prometheus/write`, body, { ...REMOTE_WRITE_HEADERS, authorization });
  for (const one of all) {
    const scale = finestScale(one, OTLP_BUCKETS_MAX);
    const times = [startOf(nowMs), endOf(nowMs)] as const;
    const sent = otlpExponential(`${one.name}_exponential`, scale, exponentialCounts(one, scale), times);
    await post(`${base}/otlp/v1/metrics`, sent, { 'content-type': 'application/json', authorization });
  }
  const ask: Ask = async (metricName) => {
    const input = { serviceId, metricName, windowMinutes: 60, aggregation: 'sum' };
    const { points } = await client.action<{ points: { value: number }[] }>('query_metric', input);
    return points.length === 0 ? null : points.reduce((sum, { value }) => sum + value, 0);
  };
  const last = `${all.at(-1)?.name ?? ''}_exponential{quantile="0.5"}`;
  const deadline = performance.now() + WITHIN_MS;
  while ((await ask(last)) === null) {
    if (performance.now() > deadline) throw new Error('what was sent cannot be asked for');
    await delay(100);
  }
  return ask;
}

async function sendToPrometheus(
  folder: string,
  body: Buffer,
  nowMs: number,
): Promise<{ readonly ask: Ask; readonly server: Prometheus } | null> {
  if (prometheusVersion() === null) return null;
  const server = await startPrometheus(folder, '', {
    flags: ['--web.enable-remote-write-receiver', '--enable-feature=native-histograms'],
  });
  await post(`${server.url}/api/v1/write`, body, REMOTE_WRITE_HEADERS);
  const ask: Ask = async (query) => {
    const at = (nowMs - 29_000) / 1_000;
    const response = await fetch(
      `${server.url}/api/v1/query?${new URLSearchParams({ query, time: String(at) }).toString()}`,
    );
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
    const [found] = data.result;
    return found === undefined ? null : Number(found.value[1]);
  };
  return { ask, server };
}

async function post(url: string, body: Buffer | string, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
}

async function quantileRows(all: readonly Observations[], own: Ask, prometheus: Ask | null) {
  const rows: Record<string, string>[] = [];
  for (const one of all) {
    for (const quantile of QUANTILES) {
      const exact = exactQuantile(one, quantile);
      const error = (found: number | null | undefined): string =>
        found === null || found === undefined || Number.isNaN(found) ? '–' : percentOff(found, exact);
      const ofOwn = (form: string) => own(`${one.name}_${form}{quantile="${quantile}"}`);
      const ofPrometheus = (what: string) => prometheus?.(`histogram_quantile(${quantile}, increase(${what}[10m]))`);
      rows.push({
        observations: one.name,
        quantile: String(quantile),
        exact: `${exact.toPrecision(4)} s`,
        classic: error(await ofOwn('classic')),
        '… by Prometheus': error(await ofPrometheus(`${one.name}_classic_bucket`)),
        native: error(await ofOwn('native')),
        '… by Prometheus ': error(await ofPrometheus(`${one.name}_native`)),
        exponential: error(await ofOwn('exponential')),
      });
    }
  }
  return rows;
}

async function counterRows(all: readonly Counter[], own: Ask, prometheus: Ask | null) {
  const rows: Record<string, string>[] = [];
  for (const { name, about, counted } of all) {
    const [ours, theirs] = [await own(`${name}_total`), await prometheus?.(`increase(${name}_total[1h])`)];
    const cells = (found: number | null | undefined): [string, string] =>
      found === null || found === undefined
        ? ['–', '–']
        : [String(Number(found.toPrecision(9))), percentOff(found, counted)];
    const [[value, off], [theirValue, theirOff]] = [cells(ours), cells(theirs)];
    rows.push({
      counter: name,
      about,
      counted: String(Number(counted.toPrecision(9))),
      'sum of it': value,
      error: off,
      'increase() of Prometheus': theirValue,
      'its error': theirOff,
    });
  }
  return rows;
}

function percentOff(found: number, exact: number): string {
  const off = (found / exact - 1) * 100;
  return Math.abs(off) < 1e-7 ? '0 %' : `${off > 0 ? '+' : ''}${off.toFixed(2)} %`;
}
