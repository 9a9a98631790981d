import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { StringInterner } from '#kernel/string_interner.ts';

test('equal texts have the same number, counted from 0, in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('', 'a', 'b', 'c', 'd'), { maxLength: 40 }), (texts) => {
      const numbers = new StringInterner();
      const distinct = [...new Set(texts)];
      expect(texts.map((text) => numbers.intern(text))).toEqual(texts.map((text) => distinct.indexOf(text)));
      expect(numbers.strings).toEqual(distinct);
    }),
  );
});
