import { expect, test } from 'vitest';

import { suggestedRules, suggestThreshold } from '#modules/rules/decide/rule_templates.ts';
import fc from '#test/kit/properties.ts';

test('each kind of metric is suggested once, what matters most first, and parts of histograms are left out', () => {
  const names = [
    'http_request_duration_seconds',
    'checkout_latency_ms',
    'jobs_queue_depth',
    'app_errors_total',
    'up',
    'temperature',
  ];
  expect(suggestedRules(names).map(({ title, config }) => `${config.metricName} ${title}`)).toEqual([
    'up is down',
    'app_errors_total has many errors',
    'http_request_duration_seconds is slow',
    'jobs_queue_depth has a long queue',
  ]);
  expect(suggestedRules([])).toEqual([]);
});

test('of a histogram the 0.95 quantile is suggested, as no series has its name, and never one of its parts', () => {
  const parts = ['bucket', 'count', 'max', 'min', 'sum'].map((part) => `http.server.request.duration_${part}`);
  expect(suggestedRules(parts).map(({ config }) => [config.metricName, config.aggregation])).toEqual([
    ['http.server.request.duration{quantile="0.95"}', 'avg'],
  ]);
  const errors = ['batch.errors_bucket', 'batch.errors_count'];
  expect(suggestedRules(errors).map(({ config }) => config.metricName)).toEqual(['batch.errors_count']);
});

const suggestionFor = (name: string) => suggestedRules([name])[0]!;

test('a threshold is round and lies beyond what was measured; without data it is the usual one', () => {
  const slow = suggestionFor('http_request_duration_ms');
  expect(suggestThreshold(slow, [300, 410, null, 380])).toBe(550);
  expect(suggestThreshold(slow, [])).toBe(slow.fallback);
  expect(suggestThreshold(slow, [0, null])).toBe(slow.fallback);
  const few = suggestionFor('orders_total');
  expect(suggestThreshold(few, [90, 70, 81])).toBe(30);
  expect(suggestThreshold(few, [0, 5])).toBe(few.fallback);
  // A ratio cannot exceed 1, and a disk that is half full is no reason to wake anybody.
  expect(suggestThreshold(suggestionFor('disk_used_ratio'), [0.9, 0.93])).toBe(0.95);
  expect(suggestThreshold(suggestionFor('disk_used_percent'), [40, 41])).toBe(80);
});

test('a suggested threshold would not have fired in what was measured, whatever it was', () => {
  const values = fc.array(fc.option(fc.double({ min: 0.001, max: 1e12, noNaN: true })), { minLength: 1 });
  fc.assert(
    fc.property(values, fc.constantFrom('request_latency', 'orders_total'), (measured, name) => {
      const threshold = suggestThreshold(suggestionFor(name), measured);
      expect(Number.isFinite(threshold)).toBe(true);
      const known = measured.filter((value) => value !== null);
      const fires = (value: number) => (name === 'orders_total' ? value < threshold : value > threshold);
      // A threshold of 1 stands where fewer than one was measured.
      expect(known.filter(fires).every((value) => name === 'orders_total' && value < 1)).toBe(true);
    }),
  );
});
