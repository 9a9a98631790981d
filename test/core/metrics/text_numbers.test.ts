import fc from 'fast-check';
import { expect, test } from 'vitest';

import { TextNumbers } from '#core/metrics/text_numbers.ts';

test('equal texts have the same number, counted from 0, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd'), { maxLength: 40 }), (texts) => {
      const numbers = new TextNumbers();
      const met = [...new Set(texts)];
      expect(texts.map((text) => numbers.of(text))).toEqual(texts.map((text) => met.indexOf(text)));
      expect(numbers.all).toEqual(met);
    }),
  );
});
