import { describe, expect, test } from 'vitest';

import { type DecodedPoints, pointLimits } from '#ingest/admission/point_admission.ts';
import { packPoints, unpackPoints } from '#ingest/packing/pack_points.ts';
import { finish } from '#kernel/steps.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { AnnouncedSeries } from '#ingest/series/announced_series.ts';
import { NewSeriesLimiter } from '#ingest/series/new_series_limiter.ts';
import { SeriesSet } from '#ingest/series/series_set.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { encodePoints } from '#storage/clickhouse/point_blocks.ts';
import { encodeSeries } from '#storage/clickhouse/series_rows.ts';
import { hostileMetricBodies } from '#test/ingest/protocols/hostile_metric_bodies.ts';
import { NOW, NOW_MS, recording } from '#test/ingest/metric_bytes.ts';
import { NORMAL_EVENT } from '#test/ingest/protocols/sentry/hostile_events.ts';

const DECODERS = { json: decodeMetricsJson, otlp: decodeOtlpMetrics, write: decodePrometheusWrite };
const SERVICE = 'service_01k9z8e4rnf7ktv2x5m6w0abqe' as Id<'service'>;
const JOB_POINTS = 20_000;

/** The points of a body; null if it is refused. All its series are new, and what the service may bring at once is spent. */
function decode(protocol: keyof typeof DECODERS, body: Buffer, type: string): DecodedPoints | null {
  const known = new SeriesSet();
  const pace = new NewSeriesLimiter({ now: () => NOW });
  while (pace.take());
  const allowance = {
    sign: Symbol('test'),
    pay: (bytes: number) => pace.pay(bytes),
    admit(high: number, low: number) {
      if (known.has(high, low)) return null;
      if (!pace.take()) return 'too many';
      known.addSought();
      return null;
    },
  };
  try {
    return finish(DECODERS[protocol](body, type, NOW, pointLimits(30, allowance)));
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** What the API and the worker make of them, up to what goes to the store. */
function handOn({ points }: DecodedPoints): void {
  const announced = new AnnouncedSeries();
  for (let from = 0; from < points.length; from += JOB_POINTS) {
    const announcements = announced.begin();
    const slice = { serviceId: SERVICE, points, from, to: Math.min(points.length, from + JOB_POINTS) };
    const packed = packPoints([slice], (_, { key }, at) => announcements.isDue(SERVICE, key, at));
    announcements.commit();
    const arrived = unpackPoints(packed);
    encodeSeries(arrived);
    encodePoints(arrived);
  }
}

/** Milliseconds of processor time of this thread: what else the machine does counts little. */
function spent(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const BYTES = 512 * 1024;
const ROUNDS = 3;
const TRIES_MAX = 5;
/** What any body may take, and what is lost to measuring. */
const FREE_MS = 16;
const NANOSECONDS_A_BYTE_MAX = 20;
/** Bodies of which each point is a new series take the longest: they are read several times, so that little is lost to measuring. */
const OF_NEW_SERIES = /a new series each|NDJSON: points|short new series/;
const TIMES_NEW_SERIES = 2;
/** What reading an ordinary event takes on a machine on which the figures hold. */
const YARDSTICK_MS = 0.2;
/** The same work takes up to twice the time while others use the caches of the machine; a shape that hurts takes many times the time. */
const NEIGHBOURS = 3;

describe('reading metrics takes at most 20 ns a byte, in the API and the worker, whatever they are made of', () => {
  const payload = Buffer.from(NORMAL_EVENT);
  const context = {
    eventId: 'a'.repeat(32),
    receivedAt: fromEpochMilliseconds(NOW_MS),
    clientIp: null,
    client: null,
  };
  const readNormal = (): void => {
    for (let i = 0; i < 200; i += 1) readEvent({ context, payload });
  };
  readNormal();
  const slowerNow = (): number => Math.max(1, spent(readNormal) / 200 / YARDSTICK_MS);
  const bodies = hostileMetricBodies(BYTES, NOW_MS).map((body) => [body.name, body] as const);
  test.each(bodies)('%s', (name, { protocol, type, body }) => {
    const times = OF_NEW_SERIES.test(name) ? TIMES_NEW_SERIES : 1;
    const handle = (): void => {
      for (let time = 0; time < times; time += 1) {
        const decoded = decode(protocol, body, type);
        if (decoded !== null) handOn(decoded);
      }
    };
    handle();
    const allowedMs = FREE_MS + (times * body.length * NANOSECONDS_A_BYTE_MAX) / 1e6;
    // The machine is busier at one moment than at another: the best of some tries counts.
    let ofAllowed = Infinity;
    for (let tries = 0; tries < TRIES_MAX && ofAllowed >= NEIGHBOURS; tries += 1) {
      const ms = Math.min(...Array.from({ length: ROUNDS }, () => spent(handle)));
      ofAllowed = Math.min(ofAllowed, ms / (allowedMs * slowerNow()));
    }
    expect(ofAllowed).toBeLessThan(NEIGHBOURS);
  });
});

test.each([
  ['write', 'prom-1.snappy', 'application/x-protobuf'],
  ['write', 'prom-4.snappy', 'application/x-protobuf'],
  ['otlp', 'otlp-proto-1.bin', 'application/x-protobuf'],
  ['otlp', 'otlp-json-1.json', 'application/json'],
] as const)('no limit of work touches what a real sender of %s sends: %s', (protocol, file, type) => {
  const decoded = finish(DECODERS[protocol](recording(file), type, NOW, pointLimits(30)));
  expect(decoded.points.length).toBeGreaterThan(10);
  expect(decoded.rejected).toEqual({ count: 0, reasons: [] });
});

test('as many different labels are read as real points may have, and those of a dense body are refused by themselves', () => {
  const sensors = Array.from({ length: 20_000 }, (_, i) => ({
    name: 'temperature_celsius',
    value: 21.5,
    labels: { device: `sensor-${i}` },
  }));
  const real = decodeMetricsJson(
    Buffer.from(JSON.stringify({ points: sensors })),
    'application/json',
    NOW,
    pointLimits(30),
  );
  expect(finish(real)).toMatchObject({ points: { length: 20_000 }, rejected: { count: 0 } });
  const dense = sensors.map((_, i) => ({ name: 'a', value: 1, labels: { a: `${i}` } }));
  const text = JSON.stringify({ points: [...dense, { name: 'a', value: 2, labels: { a: '1' } }] });
  const { points, rejected } = finish(decodeMetricsJson(Buffer.from(text), 'application/json', NOW, pointLimits(30)));
  expect(points.length).toBeGreaterThan(10_000);
  expect(points.value[points.length - 1]).toBe(2);
  expect(rejected.reasons).toMatchObject([{ message: expect.stringContaining('more different labels') }]);
});
