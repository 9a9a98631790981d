import { expect, test } from 'vitest';

import { parseRuleConfig } from '#modules/rules/decide/rule_settings.ts';
import { conditionText, isRuleKind, metricOf, RULE_KINDS } from '#modules/rules/decide/rule_kinds.ts';

const least = { metricName: 'cpu', comparator: '>', threshold: 90 };
const parse = (config: unknown) => parseRuleConfig('metric_threshold', config, 'config');
const pathsOf = (config: unknown) => {
  const parsed = parse(config);
  return parsed.kind === 'ok' ? [] : parsed.faults.map(({ path }) => path);
};

test('a config gets its defaults', () => {
  expect(parse(least)).toEqual({ kind: 'ok', value: { ...least, windowMinutes: 5, aggregation: 'avg' } });
  expect(parseRuleConfig('exception', {}, 'config')).toEqual({ kind: 'ok', value: { minSeverity: 'error' } });
});

test('a complete config is taken as it is', () => {
  const config = {
    metricName: 'http_requests_total{status=~"5.."}',
    comparator: '<=',
    threshold: -0.5,
    windowMinutes: 10_080,
    aggregation: 'last',
  };
  expect(parse(config)).toEqual({ kind: 'ok', value: config });
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

test('each kind takes its own properties only', () => {
  expect(parseRuleConfig('exception', least, 'config')).toMatchObject({ kind: 'faults' });
  expect(parse({ minSeverity: 'error' })).toMatchObject({ kind: 'faults' });
});

test('a kind that is not declared is no kind', () => {
  expect(Object.keys(RULE_KINDS).every(isRuleKind)).toBe(true);
  for (const other of ['toString', '__proto__', 'metric', '', null, 1]) expect(isRuleKind(other)).toBe(false);
});

test('the condition of a rule reads as a sentence', () => {
  const rule = { ...least, comparator: '>', windowMinutes: 5, aggregation: 'avg' } as const;
  const config = { ...rule, metricName: 'latency_ms', threshold: 800 };
  expect(conditionText({ kind: 'metric_threshold', config })).toBe(
    'When average of latency_ms over 5 min is > 800 ms.',
  );
  expect(metricOf({ kind: 'metric_threshold', config })).toBe('latency_ms');
  const exception = { kind: 'exception', config: { minSeverity: 'fatal' } } as const;
  expect(conditionText(exception)).toBe('When a new exception, or one that came back, is at least "fatal".');
  expect(metricOf(exception)).toBe(null);
});

test('the condition of a rule on exceptions names its limits and its conditions', () => {
  const exception = { kind: 'exception', config: { minSeverity: 'error' } } as const;
  const textOf = (settings: object) => conditionText({ ...exception, settings });
  expect(textOf({ inEnvironment: 'prod*', withText: 'refund' })).toBe(
    'When a new exception, or one that came back, is at least "error", of the environment "prod*", with the title "*refund*".',
  );
  expect(textOf({ eventsOver: 1, rateMinutes: 5 })).toBe(
    'When an exception that is at least "error" has more than 1 event within 5 min.',
  );
  expect(textOf({ eventsOver: 5_000, usersOver: 20, inRelease: '2.*', withTag: 'customer:acme' })).toBe(
    'When an exception that is at least "error" has more than 5,000 events or more than 20 users within 10 min, of the release "2.*", with the tag "customer:acme".',
  );
});
