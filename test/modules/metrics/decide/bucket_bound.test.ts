import { RE2JS } from 're2js';
import { expect, test } from 'vitest';

import { anchoredPattern } from '#modules/metrics/decide/pattern_size.ts';
import { boundMatcher, boundText, labelText, quantileQuestionOf } from '#modules/metrics/decide/quantile.ts';
import { parseSelector } from '#modules/metrics/decide/selector.ts';

test.each([
  ['1', '1'],
  ['1.0', '1'],
  ['1e+00', '1'],
  ['0.50', '0.5'],
  ['5e-3', '0.005'],
  ['1e+06', '1000000'],
  ['-2.0', '-2'],
  ['.5', '0.5'],
  ['-.5', '-0.5'],
  ['1.', '1'],
  ['+1', '1'],
  ['+2.5e0', '2.5'],
  ['.', '.'],
  ['+', '+'],
  ['1.2.3', '1.2.3'],
  ['+Inf', '+Inf'],
  ['Inf', '+Inf'],
  ['Infinity', '+Inf'],
  ['+INF', '+Inf'],
  ['-Inf', '-Inf'],
  ['Information', 'Information'],
  ['007', '007'],
  ['0x10', '0x10'],
  ['', ''],
  ['lower', 'lower'],
])('a bound written %s is stored as %s', (written, stored) => {
  expect(boundText(written)).toBe(stored);
});

test.each(['1', '1.0', '1e0', '1.', '+1'])(
  'a selector for the bound %s finds it in both spellings, and no other',
  (written) => {
    const [matcher] = parseSelector(`x_bucket{le="${written}"}`).matchers;
    expect(matcher?.operator).toBe('=~');
    const pattern = RE2JS.compile(anchoredPattern(matcher?.value ?? ''));
    expect(['1', '1.0', '10', '1x0', '11'].filter((stored) => pattern.matches(stored))).toEqual(['1', '1.0']);
  },
);

test('other matchers stay as they are', () => {
  expect(boundMatcher({ label: 'le', operator: '=', value: '0.5' })).toBeNull();
  expect(boundMatcher({ label: 'le', operator: '=~', value: '1|2|10.05|1.0+' })).toBeNull();
  expect(boundMatcher({ label: 'zone', operator: '=', value: '1' })).toBeNull();
  expect(boundMatcher({ label: 'le', operator: '!=', value: '1' })?.operator).toBe('!~');
});

test.each([String.raw`0\.5|1\.0`, '0.5|1.0', '[13].0'])('the pattern %s finds what is stored', (written) => {
  const [matcher] = parseSelector(`x_bucket{le=~${JSON.stringify(written)}}`).matchers;
  const pattern = RE2JS.compile(anchoredPattern(matcher?.value ?? ''));
  expect(['1', '1.0', '5', '10', '1.00'].filter((stored) => pattern.matches(stored))).toEqual(['1', '1.0']);
});

test('the quantiles of summaries are stored in one spelling, too, and a histogram is asked for them in any', () => {
  expect([labelText('quantile', '1.0'), labelText('le', '5.0'), labelText('version', '1.0')]).toEqual([
    '1',
    '5',
    '1.0',
  ]);
  for (const [written, quantile] of [
    ['1', 1],
    ['1.0', 1],
    ['0.50', 0.5],
    ['0', 0],
  ] as const) {
    expect(quantileQuestionOf(parseSelector(`x{quantile="${written}"}`))?.quantile).toBe(quantile);
  }
  for (const written of ['=~"0.5|0.9"', '="high"', '=""', '!="1"']) {
    expect(quantileQuestionOf(parseSelector(`x{quantile${written}}`))).toBeNull();
  }
});
