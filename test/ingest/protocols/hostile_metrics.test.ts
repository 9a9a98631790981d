import { describe, expect, test } from 'vitest';

import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { decodeOtlpMetrics } from '#ingest/protocols/otlp_metrics.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import { finish } from '#ingest/protocols/body/steps.ts';
import { AppError } from '#kernel/errors.ts';
import { hostileMetricBodies } from '#test/ingest/protocols/hostile_metric_bodies.ts';
import { LIMITS, NOW, NOW_MS } from '#test/ingest/metric_bytes.ts';

const DECODERS = { json: decodeMetricsJson, otlp: decodeOtlpMetrics, write: decodePrometheusWrite };
const BYTES = 512 * 1024;
/** Of processor time, on a machine that may be several times slower than the one on which it was measured. */
const NANOSECONDS_PER_BYTE_MAX = 600;
const FREE_MS = 30;

/** Milliseconds of processor time of this thread. */
function spent(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

describe('decoding points takes time in proportion to the bytes, whatever they are', () => {
  const bodies = hostileMetricBodies(BYTES, NOW_MS).map((body) => [body.name, body] as const);
  test.each(bodies)('%s', (_name, { protocol, type, body }) => {
    const decode = () => {
      try {
        finish(DECODERS[protocol](body, type, NOW, LIMITS));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
      }
    };
    decode();
    const ms = Math.min(spent(decode), spent(decode));
    expect(ms).toBeLessThan(FREE_MS + (body.length * NANOSECONDS_PER_BYTE_MAX) / 1e6);
  });
});
