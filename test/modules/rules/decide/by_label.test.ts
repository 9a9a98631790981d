import { expect, test } from 'vitest';

import type { MeasuredValue } from '#modules/rules/decide/breach.ts';
import { divideByLabel, OWN_INCIDENTS_MAX, partOfValue, REST } from '#modules/rules/decide/by_label.ts';
import { COMPARATORS } from '#modules/rules/decide/comparator.ts';
import fc from '#test/kit/properties.ts';

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
    { numRuns: 2_000 },
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
