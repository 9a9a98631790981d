import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  decideMetricRule,
  isBehind,
  NO_MEMORY,
  type OpenBreach,
  type RuleDecision,
  type RuleEvaluation,
  ruleWindow,
} from '#modules/rules/decide/breach.ts';
import { replayRule } from '#modules/rules/decide/replay.ts';
import { COMPARATORS, METRIC_RULE_DEFAULTS, type MetricRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import { Temporal } from '#kernel/time.ts';

const T0 = Temporal.Instant.from('2026-11-21T12:00:00Z');
const at = (seconds: number) => T0.add({ seconds });
const RULE = { comparator: '>', threshold: 5, windowMinutes: 1 } as const;

test('each comparator compares as it is written; no data is no breach', () => {
  const results = (value: number | null) =>
    COMPARATORS.map((comparator) => {
      const rule = { comparator, threshold: 5, windowMinutes: 1 };
      return decideMetricRule(rule, { value, open: null, now: T0 }).kind === 'open';
    });
  expect(results(6)).toEqual([true, true, false, false]);
  expect(results(5)).toEqual([false, true, false, true]);
  expect(results(4)).toEqual([false, false, true, true]);
  expect(results(null)).toEqual([false, false, false, false]);
});

test('what is more than a bound breaches thresholds up to it, and is neither breach nor clear of higher ones', () => {
  const kindOf = (comparator: (typeof COMPARATORS)[number], threshold: number, open: OpenBreach | null = null) =>
    decideMetricRule({ comparator, threshold, windowMinutes: 1 }, { value: 5, isMoreThan: true, open, now: T0 });
  for (const comparator of ['>', '>='] as const) {
    expect(kindOf(comparator, 4)).toEqual({ kind: 'open', because: 'breach' });
    expect(kindOf(comparator, 5)).toEqual({ kind: 'open', because: 'breach' });
    expect(kindOf(comparator, 6)).toEqual({ kind: 'nothing' });
  }
  for (const comparator of ['<', '<='] as const) {
    for (const threshold of [4, 5, 6]) expect(kindOf(comparator, threshold)).toEqual({ kind: 'nothing' });
  }
  const open = { countedAt: at(-30), clearSince: null };
  expect(kindOf('>', 6, open)).toEqual({ kind: 'nothing' });
  expect(kindOf('<', 6, open)).toEqual({ kind: 'nothing' });
  expect(kindOf('<', 4, open)).toMatchObject({ kind: 'remember', clearSince: T0 });
});

test('a rule looks at the last window, now included', () => {
  expect(ruleWindow(5, T0)).toEqual({ fromMs: T0.epochMilliseconds - 299_999, toMs: T0.epochMilliseconds + 1 });
});

describe('an evaluation', () => {
  const decide = (value: number | null, seconds: number, open: OpenBreach | null) =>
    decideMetricRule(RULE, { value, open, now: at(seconds) });
  const open = (countedAt: number, clearSince: number | null): OpenBreach => ({
    countedAt: at(countedAt),
    clearSince: clearSince === null ? null : at(clearSince),
  });

  test('without an open incident opens one at a breach, and at nothing else', () => {
    expect(decide(9, 0, null)).toEqual({ kind: 'open', because: 'breach' });
    expect(decide(1, 0, null)).toEqual({ kind: 'nothing' });
    expect(decide(null, 0, null)).toEqual({ kind: 'nothing' });
  });

  test('counts a breach that lasts once a window', () => {
    expect(decide(9, 59, open(0, null))).toEqual({ kind: 'nothing' });
    expect(decide(9, 60, open(0, null))).toEqual({ kind: 'raise_occurrences' });
  });

  test('counts a breach anew after the clock was set back, but for the minute by which two processes may differ', () => {
    expect(decide(9, -60, open(0, null))).toEqual({ kind: 'nothing' });
    expect(decide(9, -61, open(0, null))).toEqual({ kind: 'raise_occurrences' });
  });

  test('counts a breach that returns at once', () => {
    expect(decide(9, 15, open(0, 5))).toEqual({ kind: 'raise_occurrences' });
  });

  test('resolves once the condition was false, with data, for a whole window', () => {
    expect(decide(1, 10, open(0, null))).toMatchObject({ kind: 'remember', clearSince: at(10) });
    expect(decide(1, 69, open(0, 10))).toEqual({ kind: 'nothing' });
    expect(decide(1, 70, open(0, 10))).toEqual({ kind: 'resolve', because: 'recovered' });
  });

  test('without data neither counts nor forgets since when the condition is false, and remembers since when', () => {
    const memory = { ...NO_MEMORY, silentSince: at(70) };
    expect(decide(null, 70, open(0, 10))).toEqual({ kind: 'remember', clearSince: at(10), memory });
    const before = { value: null, open: open(0, null), memory };
    expect(decideMetricRule(RULE, { ...before, now: at(75) })).toEqual({ kind: 'nothing' });
    expect(decideMetricRule(RULE, { ...before, now: at(70 + 15 * 60) })).toEqual({
      kind: 'resolve',
      because: 'no_data',
    });
  });
});

test('an incident never resolves unless every evaluation of the window before found the condition false', () => {
  const evaluation = fc.constantFrom(1, 1, 1, 1, 9);
  fc.assert(
    fc.property(fc.array(evaluation, { maxLength: 60 }), (values) => {
      const windowsBeforeResolving: unknown[] = [];
      let open: OpenBreach | null = null;
      for (const [i, value] of values.entries()) {
        const now = at(i * 15);
        const decision = decideMetricRule(RULE, { value, open, now });
        if (decision.kind === 'resolve') windowsBeforeResolving.push(values.slice(i - 4, i + 1));
        open = after(decision, open, now);
      }
      expect(windowsBeforeResolving).toEqual(windowsBeforeResolving.map(() => [1, 1, 1, 1, 1]));
    }),
  );
});

function after(decision: RuleDecision, open: OpenBreach | null, now: Temporal.Instant): OpenBreach | null {
  switch (decision.kind) {
    case 'open':
    case 'raise_occurrences':
      return { countedAt: now, clearSince: null };
    case 'resolve':
      return null;
    case 'remember':
      return open && { ...open, clearSince: decision.clearSince };
    case 'keep_open':
    case 'find_missing':
    case 'nothing':
      return open;
  }
}

describe('series that fell silent', () => {
  const minute = 60;
  const open: OpenBreach = { countedAt: T0, clearSince: at(minute) };
  const found = (value: number) => ({ value, names: ['host="a"'], count: 1 });
  const decide = (overrides: Partial<RuleEvaluation<Temporal.Instant>>, noData: 'keep' | 'resolve' = 'keep') =>
    decideMetricRule<Temporal.Instant>(
      { ...RULE, settings: { ...METRIC_RULE_DEFAULTS, noData, noDataMinutes: 3 } },
      { value: 1, open, now: at(2 * minute), ...overrides },
    );
  const missingSince = at(minute);
  const memory = { ...NO_MEMORY, missingSince };

  test('are looked for before an incident is resolved, and not sooner', () => {
    expect(decide({ missing: 'unknown' })).toEqual({ kind: 'find_missing' });
    expect(decide({ missing: 'unknown', now: at(2 * minute - 1) })).toEqual({ kind: 'nothing' });
    expect(decide({ missing: 'unknown', value: 9 })).toMatchObject({ kind: 'raise_occurrences' });
  });

  test('go on breaching before an incident opens, if they are only slower than the window', () => {
    const pending = { open: null, memory: { ...NO_MEMORY, breachedSince: T0 } };
    expect(decide({ ...pending, missing: 'unknown' })).toEqual({ kind: 'find_missing' });
    expect(decide({ ...pending, missing: found(9) })).toEqual({ kind: 'nothing' });
    for (const missing of [found(1), null]) {
      expect(decide({ ...pending, missing })).toEqual({ kind: 'remember', clearSince: null, memory: NO_MEMORY });
    }
    expect(decide({ open: null, missing: 'unknown' })).toEqual({ kind: 'nothing' });
  });

  test('keep the incident open while they breached when last seen', () => {
    expect(decide({ missing: found(9) })).toEqual({ kind: 'keep_open', clearSince: null, memory });
    expect(decide({ missing: found(1) })).toEqual({ kind: 'resolve', because: 'recovered' });
    expect(decide({ missing: null })).toEqual({ kind: 'resolve', because: 'recovered' });
  });

  test('are looked for at each evaluation until they are back, and then have to be fine for a whole window', () => {
    const waiting = { open: { ...open, clearSince: null }, memory, now: at(3 * minute) };
    expect(decide({ ...waiting, missing: 'unknown' })).toEqual({ kind: 'find_missing' });
    expect(decide({ ...waiting, missing: found(9) })).toEqual({ kind: 'nothing' });
    expect(decide({ ...waiting, missing: null })).toEqual({
      kind: 'remember',
      clearSince: at(3 * minute),
      memory: NO_MEMORY,
    });
  });

  test('resolve the incident as "no data" where the rule says so', () => {
    expect(decide({ missing: found(9) }, 'resolve')).toMatchObject({ kind: 'keep_open' });
    const later = { open: { ...open, clearSince: null }, memory, missing: found(9) };
    expect(decide({ ...later, now: at(4 * minute - 1) }, 'resolve')).toEqual({ kind: 'nothing' });
    expect(decide({ ...later, now: at(4 * minute) }, 'resolve')).toEqual({ kind: 'resolve', because: 'no_data' });
    expect(decide({ ...later, now: at(400 * minute) }, 'keep')).toEqual({ kind: 'nothing' });
  });

  test('are not forgotten while nothing at all arrives', () => {
    const silent = decide({ value: null, open: { ...open, clearSince: null }, memory });
    expect(silent).toMatchObject({ kind: 'remember', memory: { missingSince, silentSince: at(2 * minute) } });
  });
});

describe('samples that come more slowly than the window is long', () => {
  const rule = { comparator: '>', threshold: 5, windowMinutes: 1 } as const;
  /** A sample every 90 s, evaluated every 5 s: for 30 s of them the window is empty. */
  const valuesOf = (value: (second: number) => number, seconds: number) =>
    Array.from({ length: seconds / 5 }, (_, index) => ((index * 5) % 90 < 60 ? value(index * 5) : null));
  const replayed = (settings: Partial<MetricRuleSettings>, values: (number | null)[]) =>
    replayRule({ ...rule, settings: { ...METRIC_RULE_DEFAULTS, ...settings } }, { firstMs: 0, stepMs: 5_000, values });

  test('open an incident when they have all breached for as long as it has to be', () => {
    const [incident, ...others] = replayed(
      { forMinutes: 5 },
      valuesOf(() => 9, 3_600),
    );
    expect(incident).toEqual({ openedAt: 300_000, closedAt: null });
    expect(others).toEqual([]);
  });

  test('resolve it when they have all been fine for as long as it has to be', () => {
    const values = valuesOf((second) => (second < 300 ? 9 : 1), 3_600);
    expect(replayed({ recoveryMinutes: 5 }, values)).toEqual([{ openedAt: 0, closedAt: 630_000 }]);
  });

  test('open nothing when one of them is fine, or when nothing came for as long as means "no data"', () => {
    expect(
      replayed(
        { forMinutes: 5 },
        valuesOf((second) => (second % 270 < 90 ? 1 : 9), 3_600),
      ),
    ).toEqual([]);
    const values = [9, ...Array.from({ length: 15 * 12 + 1 }, () => null), 9];
    expect(replayed({ forMinutes: 5 }, values)).toEqual([]);
    expect(replayed({ forMinutes: 5, noDataMinutes: 16 }, values)).toHaveLength(1);
  });
});

test.each([
  [1, 5, false],
  [1, 6, true],
  [5, 6, true],
  [30, 30, false],
  [30, 31, true],
  [10_080, 60, false],
  [10_080, 61, true],
])('over %i minutes, points that wait for %i s keep a rule from being judged: %s', (windowMinutes, seconds, isLate) => {
  const now = Temporal.Instant.from('2026-03-01T09:00:00Z');
  expect(isBehind(windowMinutes, now.subtract({ seconds }), now)).toBe(isLate);
  expect(isBehind(windowMinutes, null, now)).toBe(false);
});
