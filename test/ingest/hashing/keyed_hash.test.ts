import { expect, test } from 'vitest';

import { hashPair, hashSpan } from '#ingest/hashing/keyed_hash.ts';
import fc from '#test/kit/properties.ts';

test('a pair is hashed as its eight bytes are, whatever was hashed before', () => {
  const view = new DataView(new ArrayBuffer(8));
  const word = fc.oneof(fc.constantFrom(0, -1, 1), fc.integer());
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word)), (pairs) => {
      for (const [high, low] of pairs) {
        view.setInt32(0, high, true);
        view.setInt32(4, low, true);
        expect(hashPair(high, low)).toBe(hashSpan(view, 0, 8));
      }
    }),
  );
});
