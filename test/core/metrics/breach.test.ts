import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { decideMetricRule, isBehind, type OpenBreach, type RuleDecision, ruleWindow } from '#core/metrics/breach.ts';
import { COMPARATORS } from '#core/metrics/comparator.ts';
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

  test('counts a breach that returns at once', () => {
    expect(decide(9, 15, open(0, 5))).toEqual({ kind: 'raise_occurrences' });
  });

  test('resolves once the condition was false, with data, for a whole window', () => {
    expect(decide(1, 10, open(0, null))).toMatchObject({ kind: 'remember', clearSince: at(10) });
    expect(decide(1, 69, open(0, 10))).toEqual({ kind: 'nothing' });
    expect(decide(1, 70, open(0, 10))).toEqual({ kind: 'resolve', because: 'recovered' });
  });

  test('without data neither counts nor goes on waiting for the condition, and remembers since when', () => {
    const memory = { breachedSince: null, silentSince: at(70) };
    expect(decide(null, 70, open(0, 10))).toEqual({ kind: 'remember', clearSince: null, memory });
    const before = { value: null, open: open(0, null), memory };
    expect(decideMetricRule(RULE, { ...before, now: at(75) })).toEqual({ kind: 'nothing' });
    expect(decideMetricRule(RULE, { ...before, now: at(70 + 15 * 60) })).toEqual({
      kind: 'resolve',
      because: 'no_data',
    });
  });
});

test('an incident never resolves unless every evaluation of the window before found the condition false', () => {
  const evaluation = fc.constantFrom(1, 1, 1, 1, 9, null);
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
    case 'nothing':
      return open;
  }
}

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
