import { describe, expect, test } from 'vitest';

import { parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import { judgedValue, windowsOfRule } from '#modules/rules/decide/judged_value.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const isBeyond = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
};

test('a rule with two windows breaches exactly where each of them does, with enough traffic', () => {
  const value = fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 12 }));
  const sides = fc.array(value, { minLength: 2, maxLength: 2 });
  const asked = {
    windows: fc.array(sides, { minLength: 1, maxLength: 2 }),
    comparator: fc.constantFrom(...COMPARATORS),
    least: value,
    threshold: fc.integer({ min: -4, max: 8 }),
    isRatio: fc.boolean(),
  };
  fc.assert(
    fc.property(fc.record(asked), ({ windows, comparator, least, threshold, isRatio }) => {
      const measured = windows.map((window) => window.slice(0, isRatio ? 2 : 1).map((one) => ({ value: one })));
      const { value: judged } = judgedValue(measured, {
        comparator,
        factor: 1,
        trafficAtLeast: isRatio ? least : null,
      });
      // The walk: each window by itself, by the words of the guide.
      const traffic = windows[0]![1] ?? 0;
      const isEnough = !isRatio || least === null || traffic >= least;
      const each = windows.map(([own, divisor]) => {
        if (!isRatio) return own ?? null;
        return own === null || own === undefined || !divisor ? null : own / divisor;
      });
      const isKnown = isEnough && each.every((one) => one !== null);
      expect(judged !== null).toBe(isKnown);
      const isBreached = isKnown && each.every((one) => isBeyond[comparator](one, threshold));
      expect(judged !== null && isBeyond[comparator](judged, threshold)).toBe(isBreached);
    }),
    { numRuns: slowRuns(6_000) },
  );
});

test('a rule without a second window has one', () => {
  expect(windowsOfRule(60, {})).toEqual([60]);
  expect(windowsOfRule(60, { shortWindowMinutes: 5 })).toEqual([60, 5]);
});

describe('settings of the condition', () => {
  const config = {
    metricName: 'a{host="x"} / b{host="y"}',
    comparator: '>',
    threshold: 5,
    windowMinutes: 60,
    aggregation: 'sum',
  } as const;
  const faults = (settings: object, metricName: string = config.metricName) => {
    const parsed = parseRuleSettings(
      { kind: 'metric_threshold', config: { ...config, metricName } },
      settings,
      'settings',
    );
    return parsed.kind === 'faults' ? parsed.faults : [];
  };

  test.each([
    [{ shortWindowMinutes: 60 }, 'shortWindowMinutes', /less than the 60 min/],
    [{ shortWindowMinutes: 0 }, 'shortWindowMinutes', /.*/],
    [{ trafficAtLeast: -1 }, 'trafficAtLeast', /.*/],
    [{ trafficAtLeast: 10, noData: 'page' }, 'trafficAtLeast', /counts as no data/],
    [{ byLabel: '' }, 'byLabel', /.*/],
    [{ byLabel: '__name__' }, 'byLabel', /not the name/],
    [{ byLabel: 'host' }, 'byLabel', /have no value of host in common/],
  ])('%o are refused', (settings, field, message) => {
    expect(faults(settings)).toMatchObject([{ path: `settings.${field}`, message: expect.stringMatching(message) }]);
  });

  test('are taken where they fit, and the least traffic only by ratios', () => {
    expect(faults({ shortWindowMinutes: 5, trafficAtLeast: 100, byLabel: 'zone' })).toEqual([]);
    expect(faults({ trafficAtLeast: 100 }, 'a')).toMatchObject([{ message: expect.stringContaining('ratios only') }]);
  });
});
