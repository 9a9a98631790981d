import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as JsonExporter,
} from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import {
  AggregationType,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { AppError } from '#kernel/errors.ts';
import { type LiveWorld, liveWorld, overQuota } from '#test/live/live_world.ts';

type Service = Awaited<ReturnType<LiveWorld['given']['service']>>;

const { DELTA, CUMULATIVE } = AggregationTemporalityPreference;

let w: LiveWorld;
beforeAll(async () => {
  w = await liveWorld({ keepOpen: true });
});
afterAll(() => w.close());

interface Wire {
  readonly Exporter: typeof JsonExporter | typeof ProtobufExporter;
  readonly temporalityPreference?: AggregationTemporalityPreference;
  readonly compression?: 'none' | 'gzip';
}

function exporterTo(key: string, wire: Wire): PushMetricExporter {
  const { Exporter, temporalityPreference = CUMULATIVE, compression = 'none' } = wire;
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', compression);
  onTestFinished(() => void vi.unstubAllEnvs());
  return new Exporter({
    url: `${w.url.origin}/api/ingest/otlp/v1/metrics`,
    headers: { authorization: `Bearer ${key}` },
    temporalityPreference,
  });
}

/** A program that measures; what it has measured leaves when `flush` is called, and at no other time. */
function program(key: string, wire: Wire) {
  const exporter = exporterTo(key, wire);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 10_000,
  });
  const provider = new MeterProvider({
    readers: [reader],
    views: [
      {
        instrumentName: 'latency',
        aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [10, 100] } },
      },
      { instrumentName: 'size', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } },
    ],
  });
  onTestFinished(() => provider.shutdown().catch(() => {}));
  return {
    meter: provider.getMeter('shop'),
    async flush() {
      const { resourceMetrics } = await reader.collect();
      await new Promise<void>((resolve, reject) => {
        exporter.export(resourceMetrics, ({ error }) => (error === undefined ? resolve() : reject(error)));
      });
    },
  };
}

async function valuesOf({ serviceId }: Service, metricName: string, aggregation: string): Promise<number[]> {
  const { points } = await w.expectOk('query_metric', { serviceId, metricName, aggregation });
  return points.map(({ value }: { value: number }) => value);
}

/** Over buckets, since a run may lie on the edge of two. */
async function totalOf(service: Service, metricName: string, aggregation: 'sum' | 'count'): Promise<number> {
  return (await valuesOf(service, metricName, aggregation)).reduce((sum, value) => sum + value, 0);
}

async function lastOf(service: Service, metricName: string): Promise<number | undefined> {
  return (await valuesOf(service, metricName, 'last')).at(-1);
}

const WIRES = [JsonExporter, ProtobufExporter].flatMap((Exporter) =>
  (['none', 'gzip'] as const).flatMap((compression) =>
    [CUMULATIVE, DELTA].map((temporalityPreference) => ({
      Exporter,
      compression,
      temporalityPreference,
      isDelta: temporalityPreference === DELTA,
      wire: `${Exporter === JsonExporter ? 'JSON' : 'protobuf'}, ${compression}, ${temporalityPreference === DELTA ? 'delta' : 'cumulative'}`,
    })),
  ),
);

test.each(WIRES)('the measurements of a program can be queried ($wire)', async ({ isDelta, wire: name, ...wire }) => {
  const service = await w.given.service();
  const { meter, flush } = program(service.ingestionKey, wire);
  const orders = meter.createCounter('orders');
  const queue = meter.createUpDownCounter('queue_depth');
  const heat = meter.createGauge('heat');
  const latency = meter.createHistogram('latency');
  const size = meter.createHistogram('size');
  let poured = 0;
  meter.createObservableCounter('poured').addCallback((result) => result.observe(poured));

  const before = w.arrivals.length;
  for (const [beans, change, degrees, ms] of [
    [3, 5, 21.5, 50],
    [4, -2, 19, 500],
  ] as const) {
    orders.add(beans, { route: '/a', status: 200 });
    orders.add(1, { route: '/b', status: 500 });
    queue.add(change);
    heat.record(degrees);
    latency.record(5);
    latency.record(ms);
    size.record(ms);
    poured += 10;
    // A counter that began in the very millisecond of its sample has an unknown start.
    const recordedAt = Date.now();
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(recordedAt);
    await flush();
  }
  expect(w.arrivals.slice(before)).toMatchObject(
    Array.from({ length: 2 }, () => ({
      status: 200,
      contentType: name.startsWith('JSON') ? 'application/json' : 'application/x-protobuf',
      encoding: wire.compression === 'gzip' ? 'gzip' : '',
    })),
  );
  await w.settle();

  // A cumulative counter says when it began, so that its first value counts as a delta's does.
  expect(await totalOf(service, 'orders{route="/a"}', 'sum')).toBe(7);
  expect(await totalOf(service, 'orders{status=~"5..",route!="/a"}', 'sum')).toBe(2);
  expect(await totalOf(service, 'orders', 'count')).toBe(4);
  expect(await lastOf(service, 'orders{route="/a"}')).toBe(isDelta ? 4 : 7);
  // The client lets an observed counter begin with its first observation, so that only the next ones can be counted.
  expect(await totalOf(service, 'poured', 'sum')).toBe(isDelta ? 20 : 10);
  // What may fall is measured as it stands, whatever was preferred for counters.
  expect(await lastOf(service, 'queue_depth')).toBe(3);
  expect(Math.max(...(await valuesOf(service, 'queue_depth', 'max')))).toBe(5);
  expect(await lastOf(service, 'heat')).toBe(19);
  expect(Math.min(...(await valuesOf(service, 'heat', 'min')))).toBe(19);

  expect(await totalOf(service, 'latency_count', 'sum')).toBe(4);
  expect(await totalOf(service, 'latency_sum', 'sum')).toBe(560);
  const bucket = (le: string) => totalOf(service, `latency_bucket{le="${le}"}`, 'sum');
  expect([await bucket('10'), await bucket('100'), await bucket('+Inf')]).toEqual([2, 3, 4]);
  expect(Math.max(...(await valuesOf(service, 'latency_max', 'max')))).toBe(500);
  expect(Math.min(...(await valuesOf(service, 'latency_min', 'min')))).toBe(5);
  expect(await totalOf(service, 'size_count', 'sum')).toBe(2);
  expect(await totalOf(service, 'size_sum', 'sum')).toBe(550);
  expect(Math.max(...(await valuesOf(service, 'size_max', 'max')))).toBe(500);
});

test.each([JsonExporter, ProtobufExporter])(
  'of a batch the points that cannot be taken are left out',
  async (Exporter) => {
    const service = await w.given.service();
    const { meter, flush } = program(service.ingestionKey, { Exporter });
    meter.createGauge('heat').record(Infinity);
    meter.createGauge('dust').record(Number.NaN);
    meter.createGauge('water').record(0.7);
    await flush();
    await w.settle();
    expect(w.arrivals.at(-1)).toMatchObject({ status: 200 });
    expect(await lastOf(service, 'water')).toBe(0.7);
    expect(await totalOf(service, 'heat', 'count')).toBe(0);
    expect(await totalOf(service, 'dust', 'count')).toBe(0);
  },
);

test.each([
  ['429', overQuota(1)],
  ['503', new AppError('unavailable', 'the queue is away', { retryAfterSeconds: 1 })],
])('an exporter that is answered %s comes back, and what it brings counts once', async (status, fault) => {
  const service = await w.given.service();
  const { meter, flush } = program(service.ingestionKey, { Exporter: ProtobufExporter, temporalityPreference: DELTA });
  meter.createCounter('orders').add(5);
  const before = w.arrivals.length;
  w.breakQueue(fault);
  const flushed = flush();
  await expect.poll(() => w.arrivals.length).toBeGreaterThan(before);
  w.breakQueue(null);
  await flushed;
  await w.settle();
  const statuses = w.arrivals.slice(before).map((arrival) => String(arrival.status));
  expect([statuses[0], statuses.at(-1)]).toEqual([status, '200']);
  expect(await totalOf(service, 'orders', 'sum')).toBe(5);
  expect(await totalOf(service, 'orders', 'count')).toBe(1);
});

test.each([
  { when: 'the key is unknown', isKeyKnown: false, status: 401 },
  { when: 'metrics are not enabled', isKeyKnown: true, status: 403 },
])('an exporter is refused for good when $when, and does not come back', async ({ isKeyKnown, status }) => {
  const service = await w.given.service({ capabilities: [] });
  const { meter, flush } = program(isKeyKnown ? service.ingestionKey : 'unknown', { Exporter: JsonExporter });
  meter.createCounter('orders').add(1);
  const before = w.arrivals.length;
  await expect(flush()).rejects.toMatchObject({ code: status });
  expect(w.arrivals.slice(before).map((arrival) => arrival.status)).toEqual([status]);
});
