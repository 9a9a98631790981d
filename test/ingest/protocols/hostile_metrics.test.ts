import { expect, test } from 'vitest';

import { pointLimits } from '#ingest/admission/point_admission.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { DECODERS } from '#test/ingest/protocols/hostile_metrics_workloads.ts';
import { NOW, recording } from '#test/ingest/metric_bytes.ts';
import { beyondBound } from '#test/kit/counting/count_work.ts';
import { sweep } from '#test/kit/properties.ts';

test.each(sweep([0, 1, 2, 3, 4, 5], 6))(
  'reading metrics takes a bounded number of steps a byte, in the API and the worker, whatever they are made of: part %i of 6',
  async (from) => {
    const workloads = import.meta.resolve('./hostile_metrics_workloads.ts');
    expect(await beyondBound(workloads, { size: 16 * 1024, free: 250_000, each: 60, part: { from, of: 6 } })).toEqual(
      [],
    );
  },
);

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
