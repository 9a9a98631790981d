import { expect, test } from 'vitest';

import { parseMetricThreshold } from '#core/metrics/metric_threshold.ts';

const least = { metricName: 'cpu', comparator: '>', threshold: 90 };
const pathsOf = (config: unknown) => {
  const parsed = parseMetricThreshold(config);
  return parsed.kind === 'valid' ? [] : parsed.faults.map(({ path }) => path);
};

test('a config gets its defaults', () => {
  expect(parseMetricThreshold(least)).toEqual({
    kind: 'valid',
    config: { ...least, windowMinutes: 5, aggregation: 'avg' },
  });
});

test('a complete config is taken as it is', () => {
  const config = {
    metricName: 'http_requests_total{status=~"5.."}',
    comparator: '<=',
    threshold: -0.5,
    windowMinutes: 10_080,
    aggregation: 'last',
  };
  expect(parseMetricThreshold(config)).toEqual({ kind: 'valid', config });
});

test.each([
  [{ ...least, metricName: '' }, 'config.metricName'],
  [{ ...least, metricName: 'm{a=~"("}' }, 'config.metricName'],
  [{ ...least, metricName: 5 }, 'config.metricName'],
  [{ ...least, comparator: '=' }, 'config.comparator'],
  [{ ...least, threshold: '90' }, 'config.threshold'],
  [{ ...least, threshold: null }, 'config.threshold'],
  [{ ...least, threshold: Infinity }, 'config.threshold'],
  [{ ...least, windowMinutes: 0 }, 'config.windowMinutes'],
  [{ ...least, windowMinutes: 10_081 }, 'config.windowMinutes'],
  [{ ...least, windowMinutes: 1.5 }, 'config.windowMinutes'],
  [{ ...least, windowMinutes: null }, 'config.windowMinutes'],
  [{ ...least, aggregation: 'p99' }, 'config.aggregation'],
  [{ ...least, minSeverity: 'error' }, 'config.minSeverity'],
  [null, 'config'],
  [[], 'config'],
  ['cpu', 'config'],
])('%j is at fault in %s', (config, path) => {
  expect(pathsOf(config)).toEqual([path]);
});

test('every fault is named', () => {
  expect(pathsOf({ windowMinutes: 0, x: 1 }).sort()).toEqual([
    'config.comparator',
    'config.metricName',
    'config.threshold',
    'config.windowMinutes',
    'config.x',
  ]);
});
