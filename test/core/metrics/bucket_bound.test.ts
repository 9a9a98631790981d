import { RE2JS } from 're2js';
import { expect, test } from 'vitest';

import { boundMatcher, boundText } from '#core/metrics/bucket_bound.ts';
import { anchoredPattern, parseSelector } from '#core/metrics/selector.ts';

test.each([
  ['1', '1'],
  ['1.0', '1'],
  ['1e+00', '1'],
  ['0.50', '0.5'],
  ['5e-3', '0.005'],
  ['1e+06', '1000000'],
  ['-2.0', '-2'],
  ['+Inf', '+Inf'],
  ['Inf', '+Inf'],
  ['007', '007'],
  ['0x10', '0x10'],
  ['', ''],
  ['lower', 'lower'],
])('a bound written %s is stored as %s', (written, stored) => {
  expect(boundText(written)).toBe(stored);
});

test.each(['1', '1.0', '1e0'])('a selector for the bound %s finds it in both spellings, and no other', (written) => {
  const [matcher] = parseSelector(`x_bucket{le="${written}"}`).matchers;
  expect(matcher?.operator).toBe('=~');
  const pattern = RE2JS.compile(anchoredPattern(matcher?.value ?? ''));
  expect(['1', '1.0', '10', '1x0', '11'].filter((stored) => pattern.matches(stored))).toEqual(['1', '1.0']);
});

test('other matchers stay as they are', () => {
  expect(boundMatcher({ label: 'le', operator: '=', value: '0.5' })).toBeNull();
  expect(boundMatcher({ label: 'le', operator: '=~', value: '1|2' })).toBeNull();
  expect(boundMatcher({ label: 'zone', operator: '=', value: '1' })).toBeNull();
  expect(boundMatcher({ label: 'le', operator: '!=', value: '1' })?.operator).toBe('!~');
});
