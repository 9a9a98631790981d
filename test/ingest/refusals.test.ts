import { expect, test } from 'vitest';

import { refusalReasonOf } from '#ingest/admission/refusals.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { finish } from '#kernel/cooperative_task.ts';
import { freshLimits, NOW, NOW_MS } from '#test/ingest/metric_bytes.ts';

const JSON_TYPE = 'application/json';

function reasonsOfPoint(point: object): string[] {
  const body = Buffer.from(JSON.stringify({ points: [point] }));
  const { rejected } = finish(decodeMetricsJson(body, JSON_TYPE, NOW, freshLimits()));
  return rejected.reasons.map(({ message }) => refusalReasonOf(message));
}

function reasonsOfData(data: object): string[] {
  const body = Buffer.from(
    JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'h', ...data }] }] }] }),
  );
  const { rejected } = finish(decodeOtlpMetrics(body, JSON_TYPE, NOW, freshLimits()));
  return rejected.reasons.map(({ message }) => refusalReasonOf(message));
}

test.each([
  ['time_ahead', { name: 'a', value: 1, at: NOW_MS + 15 * 60_000 }],
  ['time_too_old', { name: 'a', value: 1, at: NOW_MS - 31 * 86_400_000 }],
  ['text_too_long', { name: 'a'.repeat(513), value: 1 }],
  ['text_too_long', { name: 'a', value: 1, labels: { a: 'x'.repeat(513) } }],
  [
    'too_many_labels',
    { name: 'a', value: 1, labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, 'x'])) },
  ],
  ['no_value', { name: 'a', value: 'x' }],
  ['no_value', { name: 'a' }],
  ['no_name', { value: 1 }],
  ['no_name', { name: '', value: 1 }],
  ['bad_time', { name: 'a', value: 1, at: Math.floor(NOW_MS / 1_000) }],
  ['bad_time', { name: 'a', value: 1, at: 'yesterday' }],
  ['bad_text', { name: 'a', value: 1, labels: { x: '\ud800' } }],
  ['bad_text', { name: 'a', value: 1, labels: { __name__: 'b' } }],
  ['bad_text', { name: 'a', value: 1, labels: { x: 1 } }],
  ['faulty', { name: 'a', value: 1, unit: 's' }],
])('a JSON point is counted as %s', (reason, point) => {
  expect(reasonsOfPoint(point)).toEqual([reason]);
});

const at = `${NOW_MS}000000`;
test.each([
  ['not_finite', { gauge: { dataPoints: [{ timeUnixNano: at, asDouble: 'Infinity' }] } }],
  ['time_ahead', { gauge: { dataPoints: [{ timeUnixNano: `${NOW_MS + 15 * 60_000}000000`, asDouble: 1 }] } }],
  [
    'bad_histogram',
    {
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [{ timeUnixNano: at, explicitBounds: [1], bucketCounts: [1] }],
      },
    },
  ],
  [
    'bad_histogram',
    { exponentialHistogram: { aggregationTemporality: 2, dataPoints: [{ timeUnixNano: at, scale: 99, count: 1 }] } },
  ],
  ['no_value', { gauge: { dataPoints: [{ timeUnixNano: at }] } }],
  ['no_name', { name: '', gauge: { dataPoints: [{ timeUnixNano: at, asDouble: 1 }] } }],
  ['no_temporality', { sum: { dataPoints: [{ timeUnixNano: at, asDouble: 1 }] } }],
  ['no_temporality', { histogram: { dataPoints: [{ timeUnixNano: at, count: 1 }] } }],
])('a point of OpenTelemetry is counted as %s', (reason, data) => {
  expect(reasonsOfData(data)).toEqual([reason]);
});
