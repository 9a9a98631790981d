import { expect, test } from 'vitest';

import { guidanceOf } from '#modules/rules/decide/kind_settings.ts';
import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';

const METRIC = {
  kind: 'metric_threshold',
  config: { metricName: 'latency', comparator: '>', threshold: 1, windowMinutes: 5, aggregation: 'avg' },
} as const;
const EXCEPTION = { kind: 'exception', config: { minSeverity: 'error' } } as const;

test.each(['https://wiki.example.com/run?book=1#now', 'http://10.0.0.8/runbook'])('%s is a runbook', (runbookUrl) => {
  expect(parseRuleSettings(EXCEPTION, { runbookUrl }, 'settings').kind).toBe('ok');
  expect(guidanceOf({ runbookUrl })).toEqual({ description: null, runbookUrl });
});

test.each([
  ['javascript:alert(1)', /https:\/\//],
  ['java\nscript:alert(1)', /whole address/],
  ['https://wiki.example.com/\u202Ehtml', /whole address/],
  ['/runbooks', /whole address/],
  ['https://anna:secret@wiki.example.com', /password/],
  ['ftp://example.com', /https:\/\//],
])('%j is no runbook, and is shown to nobody', (runbookUrl, message) => {
  expect(parseRuleSettings(METRIC, { runbookUrl }, 'settings')).toEqual({
    kind: 'faults',
    faults: [{ path: 'settings.runbookUrl', message: expect.stringMatching(message) }],
  });
  expect(guidanceOf({ runbookUrl }).runbookUrl).toBeNull();
});

test('metric rules have a severity, and exceptions that of their event', () => {
  expect(parseRuleSettings(METRIC, { severity: 'warning' }, 'settings').kind).toBe('ok');
  expect(parseRuleSettings(EXCEPTION, { severity: 'warning' }, 'settings').kind).toBe('faults');
  expect(parseRuleSettings(METRIC, { severity: 'loud' }, 'settings').kind).toBe('faults');
  expect(parseRuleSettings(METRIC, { description: ' \n' }, 'settings').kind).toBe('faults');
});
