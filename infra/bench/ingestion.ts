import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { PointColumns, ServicePoints } from '#modules/metrics/decide/announced_table.ts';
import { loadConfig, runningConfig } from '#entry/config.ts';
import { connect } from '#infra/demo/client.ts';
import { pointLimits } from '#ingest/admission/point_admission.ts';
import { ColumnWriter } from '#ingest/packing/column_writer.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { systemClock, type Temporal } from '#kernel/time.ts';
import { type ClickHouseClient, openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { insertRows } from '#storage/clickhouse/insert_rows.ts';
import { encodePoints } from '#modules/metrics/store/metric_writer.ts';
import { count, duration, megabytes, percent, ratio } from './figures.ts';
import {
  type Bench,
  type BenchInstallation,
  printInputs,
  printTable,
  withFolder,
  withInstallation,
} from './harness.ts';
import {
  canRecord,
  manyScrapes,
  type ManyScrapes,
  recordScrapes,
  sendScrapes,
} from '#infra/bench/metrics/many_scrapes.ts';
import { prometheusVersion, startPrometheus } from '#infra/bench/metrics/prometheus.ts';
import { startVictoriaMetrics, victoriaMetricsVersion } from './metrics/victoria_metrics.ts';
import { countProcessorBelow, type ProcessUse, useBelow } from './paging/processes.ts';

/** The approximate number of scrapes. */
const RECORDED_REQUESTS = 12;
const INSTANCES = 48;
/** Enough that neither the first seconds of a program nor the last batch of points dominate the figure. */
const ROUNDS = 24;
const WARM_UP_ROUNDS = 4;
/** One for each instance, as a Prometheus that falls behind opens up to 200. */
const LINES = INSTANCES;
const LOOK_MS = 20;
/** Points of a bare insert, as many as the product inserts at once under load. */
const BARE_INSERT_POINTS = 100_000;
const SELF = 'Supervisor (this program)';

interface Receiver {
  readonly name: string;
  readonly answeredMs: number;
  readonly queryableMs: number;
  /** Processor time by kind of process, like `resident`. */
  readonly spentMs: ReadonlyMap<string, number>;
  readonly resident: ReadonlyMap<string, number>;
}

/** Scrapes that warm the programs up, and those that are measured. */
interface Load {
  readonly warmUp: ManyScrapes;
  readonly scrapes: ManyScrapes;
}

export const ingestion: Bench = {
  name: 'ingestion',
  about:
    'metric points by Prometheus remote write until they can be queried (goal: at least the rate of Prometheus’s own receiver)',
  async run() {
    if (!canRecord()) {
      console.log('  skipped: it needs the programs prometheus and prometheus-node-exporter\n');
      return;
    }
    await withFolder(async (folder) => {
      const load = await prepare(folder);
      const prometheus = await takenByPrometheus(path.join(folder, 'receiver'), load);
      const victoria =
        victoriaMetricsVersion() === null ? [] : [await takenByVictoria(path.join(folder, 'other'), load)];
      const [own, bareMs] = await takenByProduct(load);
      const { points } = load.scrapes;
      printTable([own, prometheus, ...victoria].map((receiver) => rowOf(receiver, prometheus, points)));
      printTable([
        {
          'the limit': `bare ClickHouse inserts of the same rows, ${count(BARE_INSERT_POINTS)} each, one after the other`,
          'points/s': count(points / (bareMs / 1_000)),
          'product ÷ limit': ratio(bareMs, own.queryableMs),
        },
      ]);
      printTable(
        [...own.spentMs].map(([name, ms]) => ({
          process: name,
          'processor, a million points': duration((ms / points) * 1_000_000),
          'of one processor': percent(ms / own.queryableMs),
          'resident afterwards': megabytes(own.resident.get(name) ?? 0),
        })),
      );
    });
  },
};

async function prepare(folder: string): Promise<Load> {
  const recorded = await recordScrapes(folder, RECORDED_REQUESTS);
  const plan = { instances: INSTANCES, lines: LINES };
  const roundMs = (RECORDED_REQUESTS + 1) * 15_000;
  const startMs = Date.now() - (WARM_UP_ROUNDS + ROUNDS) * roundMs;
  const warmUp = manyScrapes(recorded, { ...plan, rounds: WARM_UP_ROUNDS, startMs });
  const scrapes = manyScrapes(recorded, { ...plan, rounds: ROUNDS, startMs: startMs + WARM_UP_ROUNDS * roundMs });
  const bytes = recorded.reduce((sum, { length }) => sum + length, 0);
  printInputs({
    recorded: `${recorded.length} requests, ${count(bytes)} bytes, of Prometheus ${prometheusVersion()} that scrapes a node exporter every second`,
    sent: `${count(scrapes.points)} points of ${count(scrapes.series)} series in ${count(scrapes.requests)} requests, after ${count(warmUp.points)} points to warm up`,
    synthesised: `other instances (${INSTANCES}) and times (the recording ${ROUNDS} times over, a scrape every 15 s); all else is as recorded`,
    'bytes a point': (scrapes.bytes / scrapes.points).toFixed(1),
    connections: LINES,
    durability:
      'Tocsin answers when PostgreSQL has written to disk; Prometheus does not wait for its log to be written',
  });
  return { warmUp, scrapes };
}

function rowOf(receiver: Receiver, prometheus: Receiver, points: number): Record<string, string> {
  const processorMs = sum(receiver.spentMs.values());
  return {
    receiver: receiver.name,
    'answered, points/s': count(points / (receiver.answeredMs / 1_000)),
    'queryable, points/s': count(points / (receiver.queryableMs / 1_000)),
    'of Prometheus': ratio(prometheus.queryableMs, receiver.queryableMs),
    'queryable after': duration(receiver.queryableMs),
    'processor, a million points': duration((processorMs / points) * 1_000_000),
    'resident afterwards': megabytes(sum(receiver.resident.values())),
  };
}

async function takenByPrometheus(folder: string, { warmUp, scrapes }: Load): Promise<Receiver> {
  const prometheus = await startPrometheus(folder, 'global: {}', { flags: ['--web.enable-remote-write-receiver'] });
  try {
    const url = `${prometheus.url}/api/v1/write`;
    await sendScrapes(warmUp, url);
    const spent = countProcessorBelow(prometheus.pid);
    const answeredMs = await sendScrapes(scrapes, url);
    const processorMs = sum(spent().values());
    // Points can be queried once they are answered; this only verifies it.
    const samples = await prometheus.counted('prometheus_tsdb_head_samples_appended_total');
    if (samples !== warmUp.points + scrapes.points) throw new Error(`Prometheus holds ${samples} points`);
    const name = `Prometheus ${prometheus.version}`;
    const resident = residentOf(useBelow(prometheus.pid));
    return { name, answeredMs, queryableMs: answeredMs, resident, spentMs: new Map([[name, processorMs]]) };
  } finally {
    await prometheus.stop();
  }
}

async function takenByVictoria(folder: string, { warmUp, scrapes }: Load): Promise<Receiver> {
  const victoria = await startVictoriaMetrics(folder);
  try {
    const url = `${victoria.url}/api/v1/write`;
    await sendScrapes(warmUp, url);
    await victoria.untilQueryable(warmUp.points);
    const spent = countProcessorBelow(victoria.pid);
    const began = performance.now();
    const answeredMs = await sendScrapes(scrapes, url);
    await victoria.untilQueryable(warmUp.points + scrapes.points);
    const queryableMs = performance.now() - began;
    const name = `VictoriaMetrics ${victoria.version}`;
    const resident = residentOf(useBelow(victoria.pid));
    return { name, answeredMs, queryableMs, resident, spentMs: new Map([[name, sum(spent().values())]]) };
  } finally {
    await victoria.stop();
  }
}

/** Measures the product, and ClickHouse alone with the same rows, in milliseconds. */
async function takenByProduct({ warmUp, scrapes }: Load): Promise<[Receiver, number]> {
  return await withInstallation(async (installation) => {
    const authorization = `Bearer ${await createIngestKey(installation)}`;
    const { clickhouseUrl = '' } = await runningConfig(loadConfig({ DATA_DIR: installation.dataDir }));
    const store = openClickHouse({ clickhouseUrl });
    try {
      const url = `${installation.baseUrl}/api/ingest/prometheus/write`;
      await sendScrapes(warmUp, url, { authorization });
      await untilStored(store, warmUp.points);
      const spent = countProcessorBelow(process.pid);
      const began = performance.now();
      const answeredMs = await sendScrapes(scrapes, url, { authorization });
      await untilStored(store, warmUp.points + scrapes.points);
      const queryableMs = performance.now() - began;
      const spentMs = new Map([...spent()].filter(([name]) => name !== SELF).toSorted(([, a], [, b]) => b - a));
      const resident = residentOf(useBelow(process.pid).filter(({ name }) => name !== SELF));
      const receiver = { name: 'Tocsin, everything embedded', answeredMs, queryableMs, resident, spentMs };
      return [receiver, await insertBare(store, scrapes)];
    } finally {
      await store.close();
    }
  });
}

/** Memory that would be free if they ended: the processes of PostgreSQL share much of theirs. */
function residentOf(uses: readonly ProcessUse[]): Map<string, number> {
  return new Map(uses.map(({ name, ownBytes }) => [name, ownBytes]));
}

async function createIngestKey(installation: BenchInstallation): Promise<string> {
  const client = connect({ ...installation, stop: async () => {} });
  const service = await client.action<{ serviceId: string; ingestionKey: string }>('create_service', { name: 'all' });
  await client.action('enable_capability', { serviceId: service.serviceId, capability: 'metrics' });
  return service.ingestionKey;
}

async function untilStored(store: ClickHouseClient, points: number): Promise<void> {
  for (;;) {
    const result = await store.query({ query: 'SELECT count() FROM metric_points', format: 'JSONCompactEachRow' });
    const [[found] = ['0']] = await result.json<[string]>();
    if (Number(found) >= points) return;
    await delay(LOOK_MS);
  }
}

/** Into a table like the product's own, from blocks that are ready. */
async function insertBare(store: ClickHouseClient, scrapes: ManyScrapes): Promise<number> {
  await store.command({ query: 'CREATE TABLE bare_points AS metric_points' });
  const blocks = blocksOf(scrapes);
  const began = performance.now();
  for (const [index, block] of blocks.entries()) {
    await insertRows(store, 'bare_points', block, {
      token: `bare-${index}`,
      format: 'Native',
      acknowledged: 'at_once',
    });
  }
  return performance.now() - began;
}

function blocksOf({ lines }: ManyScrapes): (readonly Uint8Array[])[] {
  const serviceId: Id<'service'> = newId('service');
  const now = systemClock.now();
  const blocks: (readonly Uint8Array[])[] = [];
  let batches: ServicePoints[] = [];
  const flush = (): void => {
    blocks.push(...encodePoints(batches).values());
    batches = [];
  };
  for (const body of lines.flat()) {
    batches.push({ serviceId, points: columnsOf(body, now) });
    if (sum(batches.map(({ points }) => points.length)) >= BARE_INSERT_POINTS) flush();
  }
  if (batches.length > 0) flush();
  return blocks;
}

function columnsOf(body: Buffer, now: Temporal.Instant): PointColumns {
  const { points } = finish(decodePrometheusWrite(body, 'application/x-protobuf', now, pointLimits(30)));
  const writer = new ColumnWriter(points.length);
  writer.add(points, 0, points.length, () => true);
  const { memory, names, announced } = writer;
  return { ...memory.rows(0, points.length), length: points.length, names, announced: announced.table() };
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
