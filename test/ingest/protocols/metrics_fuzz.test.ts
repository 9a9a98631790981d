import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import type { DecodedPoints } from '#ingest/admission/point_admission.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { inflateSnappyBlock } from '#ingest/protocols/prometheus/snappy_block.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { pointLimits } from '#ingest/admission/point_admission.ts';
import { AppError } from '#kernel/errors.ts';
import { freshLimits, NOW, NOW_MS, pointsOf, recording, snappy } from '#test/ingest/metric_bytes.ts';
import { seriesKey } from '#test/kit/metrics/points.ts';
import { slowRuns } from '#test/kit/properties.ts';

const TRIES = slowRuns(60_000, 80);
const MEGABYTE = 1024 * 1024;
type Decode = (body: Buffer) => DecodedPoints;

/** Mulberry32: the same mutations at every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Values that stand at edges in varints, lengths, tags and texts. */
const EDGES = [0x00, 0x01, 0x07, 0x0a, 0x12, 0x22, 0x5b, 0x7b, 0x7f, 0x80, 0xfc, 0xff];

function mutate(body: Buffer, random: (below: number) => number): Buffer {
  let mutant = Buffer.from(body);
  for (let changes = 1 + random(4); changes > 0; changes -= 1) {
    const at = random(mutant.length + 1);
    const length = random(24);
    const cut = (from: number, to: number) => mutant.subarray(from, to);
    switch (random(6)) {
      case 0:
        if (at < mutant.length) mutant[at] = random(256);
        break;
      case 1:
        if (at < mutant.length) mutant[at] = EDGES[random(EDGES.length)]!;
        break;
      case 2:
        mutant = Buffer.from(cut(0, at));
        break;
      case 3:
        mutant = Buffer.concat([cut(0, at), cut(at + length, mutant.length)]);
        break;
      case 4:
        mutant = Buffer.concat([cut(0, at), cut(at - length, at + length), cut(at, mutant.length)]);
        break;
      default:
        mutant = Buffer.concat([
          cut(0, at),
          Buffer.alloc(1 + length, EDGES[random(EDGES.length)]),
          cut(at, mutant.length),
        ]);
    }
  }
  return mutant;
}

const { aheadMsMax, ageMsMax, pointsMax } = freshLimits();

function isSound({ points }: DecodedPoints): boolean {
  for (const { name, labels, key } of points.series) if (name === '' || key !== seriesKey(name, labels)) return false;
  for (let i = 0; i < points.length; i += 1) {
    const at = points.at[i]!;
    if (!Number.isFinite(points.value[i]) || at > NOW_MS + aheadMsMax || at < NOW_MS - ageMsMax) return false;
    if (points.series[points.seriesIndex[i]!] === undefined || points.kind[i]! > 4) return false;
  }
  return points.length <= pointsMax;
}

/** Decodes mutants of the bodies; each must give sound points or a 4xx. */
function fuzz(seed: number, bodies: readonly Buffer[], decode: Decode): { taken: number; refused: number } {
  const random = randomOf(seed);
  let taken = 0;
  let refused = 0;
  for (let i = 0; i < TRIES; i += 1) {
    const mutant = mutate(bodies[i % bodies.length]!, random);
    try {
      if (!isSound(decode(mutant))) throw new Error('unsound points');
      taken += 1;
    } catch (error) {
      const isRefusal = error instanceof AppError && error.status >= 400 && error.status < 500;
      if (!isRefusal) throw new Error(`try ${i}: ${mutant.toString('base64')}`, { cause: error });
      refused += 1;
    }
  }
  return { taken, refused };
}

const PROTOBUF = 'application/x-protobuf';
const prometheus: Decode = (body) => finish(decodePrometheusWrite(body, PROTOBUF, NOW, freshLimits()));
const otlp: Decode = (body) => finish(decodeOtlpMetrics(body, PROTOBUF, NOW, freshLimits()));
const otlpJson: Decode = (body) => finish(decodeOtlpMetrics(body, 'application/json', NOW, freshLimits()));
const writes = ['prom-1.snappy', 'prom-3.snappy', 'prom-4.snappy'].map(recording);
const native = (points: readonly object[]) => Buffer.from(JSON.stringify({ points }));
const NATIVE_POINTS = [
  { name: 'cpu', value: 1.5, at: NOW_MS, labels: { host: 'a', zone: 'é' } },
  { name: 'cpu', value: -2e3, at: '2026-11-21T10:39:00.5+01:00' },
];

test.each<[string, number, readonly Buffer[], Decode]>([
  ['remote write as sent', 1, writes, prometheus],
  [
    'remote write below snappy',
    2,
    writes.map((body) => finish(inflateSnappyBlock(body, MEGABYTE))),
    (body) => prometheus(snappy(body)),
  ],
  ['OTLP protobuf', 3, [recording('otlp-proto-1.bin'), gunzipSync(recording('otlp-gz-1.bin'))], otlp],
  ['OTLP JSON', 4, [recording('otlp-json-1.json')], otlpJson],
  [
    'native JSON',
    5,
    [native(NATIVE_POINTS)],
    (body) => finish(decodeMetricsJson(body, 'application/json', NOW, freshLimits())),
  ],
  [
    'native lines',
    6,
    [Buffer.from(NATIVE_POINTS.map((point) => JSON.stringify(point)).join('\n'))],
    (body) => finish(decodeMetricsJson(body, 'application/x-ndjson', NOW, freshLimits())),
  ],
])('mutants of %s are taken or refused, never more', (_, seed, bodies, decode) => {
  const { taken, refused } = fuzz(seed, bodies, decode);
  expect(taken + refused).toBe(TRIES);
  expect(taken).toBeGreaterThan(0);
});

test('what is remembered of a request does not change how later ones are read', () => {
  const random = randomOf(7);
  const memory = new SeriesMemory();
  const bodies = writes.map((body) => finish(inflateSnappyBlock(body, MEGABYTE)));
  const outcome = (body: Buffer, remembered: SeriesMemory): unknown => {
    try {
      const decoded = finish(decodePrometheusWrite(body, PROTOBUF, NOW, pointLimits(30), remembered));
      return { ...decoded, remember: null, points: pointsOf(decoded), series: decoded.points.series };
    } catch (error) {
      return String(error);
    }
  };
  for (let i = 0; i < slowRuns(1_500, 5); i += 1) {
    const body = snappy(mutate(bodies[i % bodies.length]!, random));
    expect(outcome(body, memory)).toEqual(outcome(body, new SeriesMemory()));
  }
});

test('bodies nested without end are refused', () => {
  const depth = 1_000_000;
  const json = Buffer.from(`{"resourceMetrics":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  const lengths = Buffer.alloc(depth, 0x0a);
  for (const decode of [() => otlpJson(json), () => otlp(lengths), () => prometheus(snappy(lengths))]) {
    expect(decode).toThrow(AppError);
  }
});
