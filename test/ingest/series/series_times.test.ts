import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { SeriesTimes } from '#ingest/series/announced_series.ts';

test('says of every key what was set last, as a map does', () => {
  const key = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.constantFrom(0n, 1n, 2n ** 32n, 2n ** 64n - 1n));
  const time = fc.oneof(fc.integer(), fc.constant(-Infinity));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, time), { maxLength: 400 }), (entries) => {
      const times = new SeriesTimes();
      const meant = new Map(entries);
      for (const [one, at] of entries) times.set(one, at);
      expect(times.size).toBe(meant.size);
      for (const [one, at] of meant) expect(times.get(one)).toBe(at);
      for (const [one, at] of [...meant].toReversed()) expect(times.get(one)).toBe(at);
      for (const [one] of entries) expect(times.get(one)).toBe(meant.get(one));
      expect(times.get(4_711n)).toBe(meant.get(4_711n) ?? Number.NaN);
    }),
  );
});
