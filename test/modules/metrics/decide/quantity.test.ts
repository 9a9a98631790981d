import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { aggregationChoices, SHOWN_AGGREGATIONS, usuallyShown } from '#modules/metrics/decide/aggregation.ts';
import { unitNameOf } from '#modules/metrics/decide/metric_type.ts';
import { comparedTexts, measureOf, measureOfRate, quantityText } from '#modules/metrics/decide/quantity.ts';

const told = (name: string, value: number, aggregation = 'avg') => quantityText(value, measureOf(name, aggregation));

describe('a number is rounded and carries the unit that the name of its metric says', () => {
  test.each([
    ['latency', 250, '250'],
    ['latency', 1240, '1,240'],
    ['latency', 98.76543, '98.8'],
    ['orders', 1_234_567, '1.23 M'],
    ['orders', 0, '0'],
    ['http_request_duration_seconds', 0, '0 s'],
    ['http_request_duration_seconds', 0.412345, '412 ms'],
    ['http_request_duration_seconds{route="/pay_bytes"}', 1.2399, '1.24 s'],
    ['job.duration.seconds', 90, '90 s'],
    ['job_duration_seconds', 5_400, '90 min'],
    ['job_duration_seconds', 0.0000123, '12.3 µs'],
    ['backup_age_seconds', 259_200, '3 d'],
    ['http_request_duration_ms', 1240, '1.24 s'],
    ['process_cpu_seconds_total', 12.5, '12.5 s'],
    ['process_start_time_seconds', 1_795_341_120, '1.8 G'],
    ['process_resident_memory_bytes', 1_536_000_000, '1.54 GB'],
    ['disk_free_mebibytes', 10, '10.5 MB'],
    ['node_filesystem_free_ratio', 0.0513, '5.13%'],
    ['cpu_usage_percent', 93.456, '93.5%'],
    ['room_temperature_celsius', -4, '-4 °C'],
    ['balance', -1240, '-1,240'],
    ['tiny', 1.5e-9, '1.5e-9'],
    ['huge', 1.5e30, '1.5e+18 T'],
  ])('%s at %d is %s', (name, value, text) => expect(told(name, value)).toBe(text));

  test('how many points there are is no time and no size', () => {
    expect(told('http_request_duration_seconds', 1240, 'count')).toBe('1,240');
    expect(told('http_request_duration_seconds_count', 1240)).toBe('1,240');
  });
});

test.each([
  ['http.server.duration', 'ms', 1240, '1.24 s'],
  ['jvm.memory.used', 'By', 1_536_000_000, '1.54 GB'],
  ['queue.wait', 'seconds', 0.4, '400 ms'],
  ['process.cpu.utilization', '1', 0.42, '42%'],
  ['queue.length', '1', 42, '42'],
  ['http.server.requests', '{request}', 42, '42'],
  // What the name says is more than what was told beside it.
  ['wait_ms', 's', 40, '40 ms'],
])('%s told in %s: %d is %s', (name, unit, value, text) => {
  expect(quantityText(value, measureOf(name, 'avg', unitNameOf(unit, name)))).toBe(text);
});

test('a rounded value never hides on which side of the threshold it is', () => {
  const names = ['latency', 'duration_seconds', 'duration_ms', 'free_bytes', 'used_ratio', 'cpu_percent'];
  // A threshold has the digits that people write.
  const threshold = fc.tuple(fc.integer({ min: -9_999, max: 9_999 }), fc.integer({ min: -6, max: 9 }));
  const offset = fc.oneof(
    fc.double({ min: -0.01, max: 0.01, noNaN: true }),
    fc.double({ min: -10, max: 10, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), threshold, offset, (name, [mantissa, exponent], off) => {
      const limit = Number(`${mantissa}e${exponent}`);
      const value = limit + off * (limit === 0 ? 1 : Math.abs(limit));
      fc.pre(value === limit || Math.abs(value - limit) > Math.max(Math.abs(limit), 1e-9) * 1e-9);
      const shown = comparedTexts({ value, threshold: limit }, measureOf(name, 'avg'));
      expect(shown.value === shown.threshold).toBe(value === limit);
    }),
  );
});

test('a threshold is told as it was set, and a value with as many digits as it takes', () => {
  const compared = (value: number, threshold: number, name = 'latency') =>
    Object.values(comparedTexts({ value, threshold }, measureOf(name, 'avg'))).join(' : ');
  expect(compared(250.123456, 100)).toBe('250 : 100');
  expect(compared(100.04, 100)).toBe('100.04 : 100');
  expect(compared(99.951, 99.955)).toBe('99.95 : 99.955');
  expect(compared(12_346, 12_345)).toBe('12,346 : 12,345');
  expect(compared(1237, 1236, 'age_seconds')).toBe('20.62 min : 20.6 min');
});

test('a rate is said per second, and seconds a second as a plain number', () => {
  expect(quantityText(1_500_000, measureOfRate('sent_bytes_total'))).toBe('1.5 MB/s');
  expect(quantityText(0.25, measureOfRate('process_cpu_seconds_total'))).toBe('0.25');
  expect(quantityText(2.5, measureOfRate('requests_total'), { isSpoken: true })).toBe('2.5 per second');
});

describe('what is offered of a metric', () => {
  const offered = (
    ...[kind, hasRate, shown]: [Parameters<typeof usuallyShown>[0], boolean, 'rate' | 'avg' | 'sum' | null]
  ) => aggregationChoices({ kind, hasRate, shown }).map(({ label }) => label);

  test.each([
    ['counter', true, 'rate', 'Rate per second'],
    ['delta', true, 'rate', 'Rate per second'],
    ['counter', false, 'sum', 'Increase'],
    ['gauge', true, 'avg', 'Average'],
    ['gauge', false, 'avg', 'Average'],
  ] as const)('of a %s, with rates: %s, has %s first', (kind, hasRate, shown, label) => {
    expect(usuallyShown(kind, !hasRate)).toBe(shown);
    expect(offered(kind, hasRate, shown)[0]).toBe(label);
  });

  test('is all of it while the kind is not known, and what was chosen before stays', () => {
    expect(offered(null, true, null)).toHaveLength(SHOWN_AGGREGATIONS.length);
    expect(offered('counter', true, 'avg')).toContain('Average');
    expect(offered('counter', true, 'rate')).not.toContain('Average');
    expect(offered('gauge', true, 'avg')).not.toContain('Rate per second');
  });
});
