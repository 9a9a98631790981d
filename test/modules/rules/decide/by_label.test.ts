import { expect, test } from 'vitest';

import type { MeasuredValue } from '#modules/rules/decide/breach.ts';
import { divideByLabel, OWN_INCIDENTS_MAX, partOfValue, REST } from '#modules/rules/decide/by_label.ts';
import { COMPARATORS, METRIC_RULE_DEFAULTS } from '#modules/rules/decide/kind_settings.ts';
import { replayByLabelInSteps, type ReplayedPart, replayRule } from '#modules/rules/decide/replay.ts';
import { finish } from '#kernel/cooperative_task.ts';
import fc, { slowRuns } from '#test/kit/properties.ts';

const isBeyond = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
};
const host = (value: number): string => partOfValue('host', `h${value}`);

test('every value that breaches is judged by itself or in the rest, an open one always by itself, 100 in all', () => {
  const hosts = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 20 })), {
    maxLength: 260,
    selector: ([value]) => value,
  });
  const some = fc.uniqueArray(fc.integer({ min: 0, max: 300 }), { maxLength: 140 });
  fc.assert(
    fc.property(hosts, some, some, fc.constantFrom(...COMPARATORS), (sent, open, remembered, comparator) => {
      const threshold = 10;
      const byValue = new Map<string, MeasuredValue>(
        sent.map(([value, measured]) => [`h${value}`, { value: measured }]),
      );
      const known = { open: new Set(open.map(host)), remembered: new Set([...remembered.map(host), REST]) };
      const parts = divideByLabel(byValue, { label: 'host', comparator, threshold }, known);
      const own = parts.filter(({ part }) => part !== REST);
      const rest = parts.find(({ part }) => part === REST);
      expect(new Set(own.map(({ part }) => part)).size).toBe(own.length);
      expect(own.length).toBeLessThanOrEqual(Math.max(OWN_INCIDENTS_MAX, open.length));
      const ownParts = new Set(own.map(({ part }) => part));
      for (const value of open) expect(ownParts).toContain(host(value));
      for (const { part, measured } of own) {
        const [, value] = sent.find(([name]) => host(name) === part) ?? [];
        expect(measured.value).toBe(value ?? null);
      }
      // The walk: each host by itself.
      const inRest = sent.filter(([name]) => !ownParts.has(host(name)));
      const breachingInRest = inRest.filter(([, value]) => isBeyond[comparator](value, threshold));
      expect(breachingInRest.length === 0 || own.length >= OWN_INCIDENTS_MAX).toBe(true);
      const worst = rest?.measured.value ?? null;
      expect(worst !== null && isBeyond[comparator](worst, threshold)).toBe(breachingInRest.length > 0);
      expect(rest?.breaching ?? 0).toBe(breachingInRest.length);
      expect(rest === undefined).toBe(inRest.length === 0 && sent.length > 0);
    }),
    { numRuns: slowRuns(6_000) },
  );
});

test('of more than 100 the furthest beyond the threshold have incidents of their own', () => {
  const byValue = new Map(Array.from({ length: 150 }, (_, place) => [`h${place}`, { value: 1_000 + place }]));
  const known = { open: new Set<string>(), remembered: new Set<string>() };
  const parts = divideByLabel(byValue, { label: 'host', comparator: '>', threshold: 5 }, known);
  expect(parts.slice(0, 2).map(({ value }) => value)).toEqual(['h149', 'h148']);
  expect(parts.at(-1)).toEqual({ part: REST, value: null, measured: { value: 1_049 }, breaching: 50 });
});

test('long values have parts of their own, and parts that a key can hold', () => {
  const [one, other] = ['x'.repeat(5_000), `${'x'.repeat(4_999)}y`];
  expect(partOfValue('host', one)).not.toBe(partOfValue('host', other));
  expect(partOfValue('host', one).length).toBeLessThan(300);
  expect(partOfValue('host', 'a')).toBe('by.host=a');
});

test('a replay by label opens and closes for each value what a replay of that value alone does', () => {
  const history = fc.array(fc.option(fc.integer({ min: 0, max: 20 }), { nil: null, freq: 6 }), {
    minLength: 30,
    maxLength: 30,
  });
  const labelValues = fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 5 });
  const settings = fc.record({
    forMinutes: fc.integer({ min: 0, max: 4 }),
    recoveryMinutes: fc.option(fc.integer({ min: 0, max: 6 }), { nil: null }),
    noData: fc.constantFrom('resolve' as const, 'keep' as const),
    noDataMinutes: fc.integer({ min: 1, max: 6 }),
    flapIncidents: fc.constantFrom(null, 2),
    flapMinutes: fc.constant(10),
  });
  let opened = 0;
  fc.assert(
    fc.property(
      labelValues,
      fc.infiniteStream(history),
      settings,
      fc.constantFrom(...COMPARATORS),
      (hosts, histories, set, comparator) => {
        const rule = { comparator, threshold: 10, windowMinutes: 3, settings: { ...METRIC_RULE_DEFAULTS, ...set } };
        const times = { firstMs: 0, stepMs: 60_000 };
        const byValue = new Map(
          hosts.map((name) => [`h${name}`, { values: histories.next().value, moreThan: new Set<number>() }]),
        );
        const steps = replayByLabelInSteps(rule, 'host', { ...times, values: Array(30).fill(null), byValue });
        const apart = [...byValue].flatMap(([labelValue, { values }]) =>
          replayRule(rule, { ...times, values }).map((incident) => ({ ...incident, labelValue })),
        );
        const inOrder = (incidents: readonly ReplayedPart[]) =>
          incidents.toSorted(
            (a, b) => a.openedAt - b.openedAt || (String(a.labelValue) < String(b.labelValue) ? -1 : 1),
          );
        opened += apart.length;
        expect(inOrder(finish(steps))).toEqual(inOrder(apart));
      },
    ),
    { numRuns: slowRuns(10_000, 60) },
  );
  expect(opened).toBeGreaterThan(100);
});

test('in a replay by label the values beyond the first 100 share one incident', () => {
  const values = [1, 20, 20, 1, 1, 1];
  const byValue = new Map(
    Array.from({ length: 130 }, (_, place) => [`h${place}`, { values, moreThan: new Set<number>() }]),
  );
  const rule = { comparator: '>', threshold: 5, windowMinutes: 1 } as const;
  const incidents = finish(replayByLabelInSteps(rule, 'host', { firstMs: 0, stepMs: 60_000, values, byValue }));
  expect(incidents).toHaveLength(101);
  expect(incidents.filter(({ labelValue }) => labelValue === null)).toEqual([
    { openedAt: 60_000, closedAt: 240_000, labelValue: null },
  ]);
});
