import { expect, test } from 'vitest';

import { Quantiles } from '#infra/demo/self/quantiles.ts';
import { readSamples } from '#infra/demo/self/prometheus_text.ts';
import { LatencyHistograms } from '#kernel/latency_histograms.ts';

test('latencies are histograms as Prometheus has them, and their quantiles can be read back', () => {
  const latencies = new LatencyHistograms();
  for (let index = 0; index < 99; index += 1) latencies.observe('page', 0.2, 'sms');
  latencies.observe('page', 400, 'call');
  latencies.observe('group', 0.003);
  const text = latencies.text();
  expect(text).toContain('# TYPE tocsin_page_duration_seconds histogram');
  expect(text).toContain('tocsin_page_duration_seconds_bucket{channel="sms",le="0.1"} 0\n');
  expect(text).toContain('tocsin_page_duration_seconds_bucket{channel="sms",le="0.25"} 99\n');
  expect(text).toContain('tocsin_page_duration_seconds_bucket{channel="call",le="300"} 0\n');
  expect(text).toContain('tocsin_page_duration_seconds_bucket{channel="call",le="+Inf"} 1\n');
  expect(text).toContain('tocsin_exception_group_duration_seconds_count 1\n');

  const samples = readSamples(text, () => true);
  expect(samples.filter(({ kind }) => kind !== 'counter')).toEqual([]);
  const quantiles = new Quantiles();
  expect(quantiles.next(samples, 'tocsin_page_duration_seconds', 0.5)).toBeCloseTo(0.1758, 3);
  expect(quantiles.next(samples, 'tocsin_page_duration_seconds', 0.5)).toBeNull();
  latencies.observe('page', 2, 'sms');
  const next = readSamples(latencies.text(), () => true);
  expect(quantiles.next(next, 'tocsin_page_duration_seconds', 0.99)).toBeCloseTo(2.485, 2);
});
