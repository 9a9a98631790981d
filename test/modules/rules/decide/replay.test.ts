import fc, { slowRuns } from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { AGGREGATIONS } from '#modules/metrics/decide/aggregation.ts';
import {
  decideMetricRule,
  NO_MEMORY,
  type OpenBreach,
  type RuleDecision,
  type RuleMemory,
  ruleWindow,
} from '#modules/rules/decide/breach.ts';
import { COMPARATORS } from '#modules/rules/decide/kind_settings.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import { POINT_KINDS } from '#modules/metrics/decide/point.ts';
import { type ReplayedIncident, replayRule, replayRuleInSteps } from '#modules/rules/decide/replay.ts';
import { slideWindow } from '#modules/metrics/decide/sliding_windows.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { beyondBound } from '#test/kit/counting/count_work.ts';
import { aggregateOnce, type Sample } from '#test/kit/metrics/aggregate_model.ts';
import { restsOf } from '#test/kit/counting/rests.ts';
import { windowPartsOf } from '#test/kit/metrics/window_parts.ts';

const MINUTE = 60_000;
const FIRST = 29_000_000;
const MINUTES = 40;

type Rule = Omit<MetricThreshold, 'metricName'>;

/**
 * Does what the worker does at each tick: measures the window, decides, and remembers of the incident what it stores.
 */
function drive(rule: Rule, series: readonly (readonly Sample[])[]): ReplayedIncident[] {
  const incidents: ReplayedIncident[] = [];
  let open: (OpenBreach & { readonly openedAt: number }) | null = null;
  let memory: RuleMemory = NO_MEMORY;
  for (let minute = FIRST; minute < FIRST + MINUTES; minute += 1) {
    const now = fromEpochMilliseconds(minute * MINUTE);
    const { fromMs, toMs } = ruleWindow(rule.windowMinutes, now);
    const value = aggregateOnce(series, rule.aggregation, fromMs, toMs);
    const decision: RuleDecision = decideMetricRule(rule, { value, open, memory, now });
    if (decision.kind !== 'nothing') memory = decision.kind === 'remember' ? decision.memory : NO_MEMORY;
    if (decision.kind === 'open') open = { openedAt: now.epochMilliseconds, countedAt: now, clearSince: null };
    if (open === null) continue;
    if (decision.kind === 'raise_occurrences') open = { ...open, countedAt: now, clearSince: null };
    if (decision.kind === 'remember') open = { ...open, clearSince: decision.clearSince };
    if (decision.kind === 'resolve') {
      incidents.push({ openedAt: open.openedAt, closedAt: now.epochMilliseconds });
      open = null;
    }
  }
  if (open !== null) incidents.push({ openedAt: open.openedAt, closedAt: null });
  return incidents;
}

/** Samples around the minutes, with gaps, several series, resets of counters and ends of series. Halves add up exactly. */
const sample: fc.Arbitrary<Sample> = fc.record({
  at: fc
    .oneof(
      fc.integer({ min: -12 * 60, max: MINUTES * 60 }).map((seconds) => seconds * 1_000),
      fc.integer({ min: -12, max: MINUTES }).map((minutes) => minutes * MINUTE),
      fc.integer({ min: -12, max: MINUTES }).map((minutes) => minutes * MINUTE + 1),
    )
    .map((offset) => FIRST * MINUTE + offset),
  value: fc.integer({ min: -4, max: 12 }).map((halves) => halves / 2),
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('gauge', 'counter') },
    { weight: 1, arbitrary: fc.constantFrom(...POINT_KINDS) },
  ),
});

const series = fc.array(fc.array(sample, { maxLength: 30 }), { minLength: 1, maxLength: 3 });

const rule: fc.Arbitrary<Rule> = fc.record({
  aggregation: fc.constantFrom(...AGGREGATIONS),
  windowMinutes: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(1, 5, 60)),
  comparator: fc.constantFrom(...COMPARATORS),
  threshold: fc.integer({ min: -4, max: 20 }).map((halves) => halves / 2),
});

test('a replay opens and resolves exactly what the evaluation of the rule, minute by minute, does', () => {
  const seen = { opened: 0, resolved: 0 };
  fc.assert(
    fc.property(rule, series, (asked, samples) => {
      const slots = { first: FIRST, last: FIRST + MINUTES - 1 };
      const parts = windowPartsOf(samples, asked.aggregation, asked.windowMinutes, slots);
      const values = slideWindow(parts, asked.aggregation, slots);
      const replayed = replayRule(asked, { firstMs: FIRST * MINUTE, stepMs: MINUTE, values });
      expect(replayed).toEqual(drive(asked, samples));
      seen.opened += replayed.length;
      seen.resolved += replayed.filter(({ closedAt }) => closedAt !== null).length;
    }),
    { numRuns: slowRuns(10_000, 50) },
  );
  expect(seen.opened).toBeGreaterThan(40);
  expect(seen.resolved).toBeGreaterThan(10);
});

test('sums that grow beyond the range of numbers leave nothing behind', () => {
  const part = (from: number, value: number) => ({ from, until: from + 1, count: 1, value });
  const parts = [part(0, Number.MAX_VALUE), { ...part(0, Number.MAX_VALUE), until: 2 }, part(2, 0.1), part(3, 0.2)];
  expect(slideWindow(parts, 'sum', { first: 0, last: 4 })).toEqual([
    Number.MAX_VALUE,
    Number.MAX_VALUE,
    0.1,
    0.2,
    null,
  ]);
});

/** About twice what a decision takes. */
const WORK_OF_EVALUATION_MAX = 100;

test('a replay takes a step for each evaluation, each with as little work as follows a finger', async () => {
  const days = { size: 7 * 1_440, free: 0, each: WORK_OF_EVALUATION_MAX };
  expect(await beyondBound(import.meta.resolve('./replay_workloads.ts'), days)).toEqual([]);
});

test('a replay rests after each evaluation, so that others have their turn', () => {
  const rule: Rule = { aggregation: 'avg', windowMinutes: 1, comparator: '>', threshold: 500 };
  const values = Array.from({ length: 200 }, (_, index) => (index % 40 < 20 ? 900 : 100));
  expect(restsOf(replayRuleInSteps(rule, { firstMs: 0, stepMs: MINUTE, values }))).toBe(200);
});
