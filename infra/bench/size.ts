import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { AnnouncedTable, type ServicePoints } from '#modules/metrics/decide/announced_table.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import { count, duration } from './figures.ts';
import { type Bench, printInputs, printTable, withFolder, withStores } from './harness.ts';
import { HOUR_MS, hourOf, type RecordedSeries, recordHour, SCRAPE_MS } from './metrics/host_days.ts';
import { prometheusVersion, startPrometheus } from '#infra/bench/metrics/prometheus.ts';
import { canRecord } from '#infra/bench/metrics/many_scrapes.ts';
import { startVictoriaMetrics, victoriaMetricsVersion } from './metrics/victoria_metrics.ts';
import { writeRequest } from './metrics/write_request.ts';
import { seeded } from './seeded.ts';

const HOSTS = Number(process.env['BENCH_HOSTS'] ?? 20);
const HOURS = Number(process.env['BENCH_HOURS'] ?? 24);
const QUIET_MS = 5_000;

/** One host's points of an hour. */
interface HostHour {
  readonly host: number;
  readonly startMs: number;
  readonly values: readonly Float64Array[];
}

export const size: Bench = {
  name: 'size',
  about: `bytes a point on disk for ${HOSTS} hosts with a node exporter over ${HOURS} h (goal: at most those of Prometheus's blocks)`,
  minutesMax: 60,
  async run() {
    if (!canRecord()) return console.log('  skipped: it needs the programs prometheus and prometheus-node-exporter\n');
    const recorded = await recordHour();
    const unchanging = recorded.filter(({ values }) => values.every((value) => value === values[0])).length;
    const points = recorded.length * HOSTS * HOURS * (HOUR_MS / SCRAPE_MS);
    printInputs({
      recorded: `${recorded.length} series of this machine's node exporter, each second for 4 min; ${unchanging} of them never changed`,
      made: `${count(points)} points: each host begins at another place of the recording and with other values, and repeats it every hour; counters go on`,
      hosts: `${HOSTS} for ${HOURS} h (BENCH_HOSTS=500 for as many as a company has, BENCH_HOURS=2 for less of a day), a scrape every ${SCRAPE_MS / 1_000} s`,
      Prometheus: `${prometheusVersion()}, by remote write, then a snapshot, which has everything in blocks`,
      Tocsin: 'inserts of an hour of a host each, as its worker makes them',
    });
    const measured = await takenByProduct(recorded, points);
    const prometheus = await withFolder((folder) => takenByPrometheus(folder, recorded, points));
    const victoria =
      victoriaMetricsVersion() === null
        ? []
        : [await withFolder((folder) => takenByVictoria(folder, recorded, points))];
    printTable([...measured, prometheus, ...victoria]);
  },
};

function* hostHours(recorded: readonly RecordedSeries[]): Generator<HostHour> {
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  for (let hour = 0; hour < HOURS; hour += 1) {
    for (let host = 0; host < HOSTS; host += 1) {
      const startMs = endMs - (HOURS - hour) * HOUR_MS + ((host * 7_919) % SCRAPE_MS);
      yield { host, startMs, values: recorded.map((series, index) => hourOf(series, index, host, hour)) };
    }
  }
}

const nameOf = (host: number): string => `host-${String(host).padStart(4, '0')}`;

async function takenByProduct(recorded: readonly RecordedSeries[], points: number): Promise<Record<string, string>[]> {
  return await withStores(async ({ context: { clickhouse } }) => {
    const writer = new MetricWriter(clickhouse);
    const serviceId = newId('service');
    const began = performance.now();
    for (const hour of hostHours(recorded)) {
      await writer.insert([pointsOf(recorded, hour, serviceId)], `${hour.host} ${hour.startMs}`);
    }
    const tookMs = performance.now() - began;
    await untilQuiet(clickhouse);
    const merged = await bytesOf(clickhouse);
    await clickhouse.command({ query: 'OPTIMIZE TABLE metric_points FINAL' });
    const final = await bytesOf(clickhouse);
    const row = (name: string, { points: ofPoints, all }: { points: number; all: number }) => ({
      store: name,
      'bytes a point': (all / points).toFixed(3),
      'of them points': (ofPoints / points).toFixed(3),
      'taken in': duration(tookMs),
    });
    return [row('Tocsin, as merges have left it', merged), row('Tocsin, when the day is merged', final)];
  });
}

function pointsOf(recorded: readonly RecordedSeries[], hour: HostHour, serviceId: Id<'service'>): ServicePoints {
  const { host, startMs, values } = hour;
  const scrapes = HOUR_MS / SCRAPE_MS;
  const length = recorded.length * scrapes;
  const names = [...new Set(recorded.map(({ name }) => name))];
  const columns = {
    key: new BigUint64Array(length),
    value: new Float64Array(length),
    at: new Float64Array(length),
    name: new Uint32Array(length),
    kind: new Uint8Array(length),
  };
  const [gauge, counter] = [POINT_KINDS.indexOf('gauge'), POINT_KINDS.indexOf('counter')];
  const announced = recorded.map(({ name, labels, isCounter }, index) => {
    const random = seeded(host * 1_000_003 + index);
    const key = (BigInt(Math.floor(random() * 2 ** 32)) << 32n) | BigInt(Math.floor(random() * 2 ** 32));
    const from = index * scrapes;
    columns.key.fill(key, from, from + scrapes);
    columns.value.set(values[index] ?? [], from);
    columns.name.fill(names.indexOf(name), from, from + scrapes);
    columns.kind.fill(isCounter ? counter : gauge, from, from + scrapes);
    for (let scrape = 0; scrape < scrapes; scrape += 1) columns.at[from + scrape] = startMs + scrape * SCRAPE_MS;
    return { name, key, labels: [...labels, 'instance', nameOf(host)], newestAt: startMs + HOUR_MS };
  });
  return { serviceId, points: { ...columns, length, names, announced: AnnouncedTable.of(announced) } };
}

async function untilQuiet(clickhouse: ClickHouseClient): Promise<void> {
  for (let quietMs = 0; quietMs < QUIET_MS; quietMs += 500) {
    await delay(500);
    const result = await clickhouse.query({ query: 'SELECT count() FROM system.merges', format: 'JSONCompactEachRow' });
    const [row] = await result.json<[string]>();
    if (Number(row?.[0]) > 0) quietMs = 0;
  }
}

async function bytesOf(clickhouse: ClickHouseClient): Promise<{ points: number; all: number }> {
  const query = `SELECT sumIf(bytes_on_disk, table = 'metric_points'), sum(bytes_on_disk) FROM system.parts
    WHERE active AND database = currentDatabase() AND startsWith(table, 'metric_')`;
  const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
  const [row] = await result.json<[string, string]>();
  return { points: Number(row?.[0]), all: Number(row?.[1]) };
}

async function takenByPrometheus(
  folder: string,
  recorded: readonly RecordedSeries[],
  points: number,
): Promise<Record<string, string>> {
  const flags = ['--web.enable-remote-write-receiver', '--web.enable-admin-api'];
  const prometheus = await startPrometheus(folder, 'global: {}', { flags });
  try {
    const began = performance.now();
    await writeAll(`${prometheus.url}/api/v1/write`, recorded);
    const tookMs = performance.now() - began;
    const answer = await fetch(`${prometheus.url}/api/v1/admin/tsdb/snapshot`, { method: 'POST' });
    const { data } = (await answer.json()) as { readonly data: { readonly name: string } };
    const blocks = path.join(folder, 'tsdb/snapshots', data.name);
    const stored = samplesIn(blocks);
    if (stored !== points) throw new Error(`Prometheus has ${stored} of ${points} points`);
    const bytes = filesIn(blocks).reduce((sum, file) => sum + statSync(file).size, 0);
    const chunks = filesIn(blocks).filter((file) => path.basename(path.dirname(file)) === 'chunks');
    const ofPoints = chunks.reduce((sum, file) => sum + statSync(file).size, 0);
    return {
      store: `Prometheus ${prometheus.version}`,
      'bytes a point': (bytes / points).toFixed(3),
      'of them points': (ofPoints / points).toFixed(3),
      'taken in': duration(tookMs),
    };
  } finally {
    await prometheus.stop();
  }
}

/** Merged as far as a call for it merges. Its names and labels are in `indexdb`, its points in `data`. */
async function takenByVictoria(
  folder: string,
  recorded: readonly RecordedSeries[],
  points: number,
): Promise<Record<string, string>> {
  const victoria = await startVictoriaMetrics(folder);
  const began = performance.now();
  await writeAll(`${victoria.url}/api/v1/write`, recorded);
  const tookMs = performance.now() - began;
  await victoria.untilQueryable(points);
  await fetch(`${victoria.url}/internal/force_merge`);
  await victoria.stop();
  const sizeOf = (files: readonly string[]): number => files.reduce((sum, file) => sum + statSync(file).size, 0);
  const files = filesIn(folder);
  const ofPoints = files.filter((file) => file.startsWith(path.join(folder, 'data')) && !file.includes('indexdb'));
  return {
    store: `VictoriaMetrics ${victoria.version}`,
    'bytes a point': (sizeOf(files) / points).toFixed(3),
    'of them points': (sizeOf(ofPoints) / points).toFixed(3),
    'taken in': duration(tookMs),
  };
}

async function writeAll(url: string, recorded: readonly RecordedSeries[]): Promise<void> {
  for (const { host, startMs, values } of hostHours(recorded)) {
    const series = recorded.map(({ name, labels }, index) => ({
      labels: ['__name__', name, ...labels, 'instance', nameOf(host)],
      values: values[index] ?? new Float64Array(),
    }));
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
      body: new Uint8Array(writeRequest(series, startMs, SCRAPE_MS)),
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function samplesIn(blocks: string): number {
  return readdirSync(blocks).reduce((sum, block) => {
    const meta = JSON.parse(readFileSync(path.join(blocks, block, 'meta.json'), 'utf8')) as {
      readonly stats: { readonly numSamples: number };
    };
    return sum + meta.stats.numSamples;
  }, 0);
}
