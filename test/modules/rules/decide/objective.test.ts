import { describe, expect, test } from 'vitest';

import { parseRuleConfig, parseRuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { budgetOf, burnRateRules, objectiveFaults, type Objective } from '#modules/rules/decide/objective.ts';

const OBJECTIVE: Objective = {
  badMetric: 'requests_total{status=~"5.."}',
  totalMetric: 'requests_total',
  objectivePercent: 99.9,
  days: 30,
  trafficAtLeast: null,
};

describe('an objective of 99.9% over 30 days', () => {
  test('makes the two rules that the usual table has', () => {
    expect(burnRateRules(OBJECTIVE)).toMatchObject([
      {
        burnRate: 14.4,
        config: {
          metricName: 'requests_total{status=~"5.."} / requests_total * 100',
          threshold: 1.44,
          windowMinutes: 60,
        },
        settings: { shortWindowMinutes: 5, recoveryMinutes: 5 },
      },
      { burnRate: 6, config: { threshold: 0.6, windowMinutes: 360 }, settings: { shortWindowMinutes: 30 } },
    ]);
  });

  test('is taken by rules as they are', () => {
    for (const { config, settings } of burnRateRules({ ...OBJECTIVE, trafficAtLeast: 100 })) {
      expect(parseRuleConfig('metric_threshold', config, 'config').kind).toBe('ok');
      expect(parseRuleSettings({ kind: 'metric_threshold', config }, settings, 'settings').kind).toBe('ok');
    }
  });

  test.each([
    [
      { bad: 0, total: 1_000 },
      { goodPercent: 100, leftPercent: 100 },
    ],
    [
      { bad: 1, total: 2_000 },
      { goodPercent: 99.95, leftPercent: 50 },
    ],
    [
      { bad: 1, total: 1_000 },
      { goodPercent: 99.9, leftPercent: 0 },
    ],
    [
      { bad: 3, total: 1_000 },
      { goodPercent: 99.7, leftPercent: -200 },
    ],
  ])('with %o has %o left', (requests, { goodPercent, leftPercent }) => {
    const budget = budgetOf(OBJECTIVE, requests);
    expect(budget?.goodPercent).toBeCloseTo(goodPercent);
    expect(budget?.leftPercent).toBeCloseTo(leftPercent);
  });

  test('has no budget without traffic', () => {
    expect(budgetOf(OBJECTIVE, { bad: 0, total: 0 })).toBeNull();
  });
});

test.each([
  [{ objectivePercent: 100 }, 'objectivePercent', /leaves no budget/],
  [{ objectivePercent: 90 }, 'objectivePercent', /too low/],
  [{ badMetric: '' }, 'badMetric', /a metric name is required/],
  [{ totalMetric: 'a / b' }, 'totalMetric', /must be one selector/],
  [{ totalMetric: 'a{' }, 'totalMetric', /the } is missing/],
])('an objective with %o is refused', (change, path, message) => {
  expect(objectiveFaults({ ...OBJECTIVE, ...change })).toEqual([{ path, message: expect.stringMatching(message) }]);
});
