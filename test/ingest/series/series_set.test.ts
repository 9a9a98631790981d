import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { packKeys, SeriesSet } from '#ingest/series/series_quota.ts';

const half = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 2 ** 31 - 1, -(2 ** 31)));
/** Two zeros stand for their neighbour. */
const key = fc.tuple(half, half).filter(([high, low]) => high !== 0 || low !== 0);

test('a set of series holds what was added, however much that is, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 500 }), key, (keys, other) => {
      const set = new SeriesSet();
      const expected = new Set<string>();
      for (const [high, low] of keys) {
        expect(set.add(high, low)).toBe(!expected.has(`${high} ${low}`));
        expected.add(`${high} ${low}`);
      }
      expect(set.size).toBe(expected.size);
      expect(keys.every(([high, low]) => set.has(high, low))).toBe(true);
      expect(set.has(...other)).toBe(expected.has(`${other[0]} ${other[1]}`));
    }),
  );
});

test('packed keys are the same keys', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 50 }), (keys) => {
      const set = new SeriesSet();
      set.addPacked(packKeys(keys.flat()));
      expect(set.size).toBe(new Set(keys.map(([high, low]) => `${high} ${low}`)).size);
      expect(keys.every(([high, low]) => set.has(high, low))).toBe(true);
    }),
  );
});

test('the key of two zeros is kept like any other', () => {
  const set = new SeriesSet();
  expect([set.has(0, 0), set.add(0, 0), set.add(0, 0), set.has(0, 0), set.size]).toEqual([false, true, false, true, 1]);
});
