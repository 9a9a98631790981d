import { expect, test } from 'vitest';

import { newId } from '#kernel/ids.ts';
import { countsInTurns, inFairTurns } from '#modules/rules/decide/fair_turns.ts';
import { RULE_DEFAULTS } from '#modules/rules/decide/rule_settings.ts';
import fc from '#test/kit/properties.ts';

const waitsForLong = (item: number): boolean => item >= 100;

test('few items are all chosen, in their order', () => {
  expect(inFairTurns([150, 3, 120], waitsForLong, { most: 3, turn: 0.9 })).toEqual([150, 3, 120]);
});

test('what has not waited yet comes before what waits for long, of which each has its turn', () => {
  const items = Array.from({ length: 300 }, (_, item) => item);
  const chosen = [0, 0.25, 0.5, 0.75].map((turn) => inFairTurns(items, waitsForLong, { most: 160, turn }));
  for (const some of chosen) expect(some.slice(0, 100)).toEqual(items.slice(0, 100));
  expect(new Set(chosen.flat()).size).toBe(300);
});

test('no more are chosen than may be, and none twice', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat(200)),
      fc.nat(50),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (items, most, turn) => {
        const chosen = inFairTurns(items, waitsForLong, { most, turn });
        expect(new Set(chosen).size).toBe(Math.min(most, items.length));
      },
    ),
  );
});

const [mine, yours] = [newId('service'), newId('service')];
const rateRule = (serviceId: typeof mine, settings: object) => ({
  rule: { serviceId },
  settings: { ...RULE_DEFAULTS, eventsOver: 5, ...settings },
});

test('rules that count the same are one count, whatever their limits, texts and services are', () => {
  const production = { inEnvironment: 'production', withTag: 'a:b:c' };
  const counts = countsInTurns(
    [
      rateRule(mine, production),
      rateRule(mine, { ...production, eventsOver: 50, withText: 'x' }),
      rateRule(yours, production),
      rateRule(yours, { ...production, rateMinutes: 60 }),
      rateRule(yours, {}),
    ],
    0,
  );
  expect(counts.map(({ minutes, rules }) => [minutes, rules.length])).toEqual([
    [10, 3],
    [60, 1],
    [10, 1],
  ]);
  expect(counts[0]!.conditions).toEqual([
    { field: 'env', value: 'production' },
    { field: 'tag', key: 'a', value: 'b:c' },
  ]);
  expect(counts[2]!.conditions).toEqual([]);
});

test('a service with many conditions delays no other, and each of its rules has its turn', () => {
  const many = Array.from({ length: 50 }, (_, index) => rateRule(mine, { inRelease: `${index}.*` }));
  const few = [rateRule(yours, { inRelease: 'x' }), rateRule(yours, { inRelease: 'y' })];
  const runs = [0, 0.4, 0.8].map((turn) => countsInTurns([...many, ...few], turn));
  for (const counts of runs) {
    expect(counts).toHaveLength(22);
    expect(counts.slice(0, 4).filter(({ rules }) => rules[0]!.rule.serviceId === yours)).toHaveLength(2);
  }
  expect(new Set(runs.flat().flatMap(({ rules }) => rules)).size).toBe(52);
});

test('each count is the first of a run in its turn, so that those which fail do not always end it before the others', () => {
  const rules = [mine, yours].flatMap((serviceId) =>
    ['a', 'b'].map((name) => rateRule(serviceId, { inRelease: `${name} ${serviceId}` })),
  );
  const firsts = [0, 0.5].map((turn) => countsInTurns(rules, turn)[0]?.rules[0]);
  expect(firsts).toEqual([rules[0], rules[3]]);
});
