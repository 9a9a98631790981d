import { expect, test } from 'vitest';

import { shortCount } from '#console/pages/exceptions/count_text.ts';

test.each([
  [0, '0'],
  [950, '950'],
  [9_999, '9,999'],
  [12_345, '12.3 k'],
  [426_000, '426 k'],
  [999_999, '1 M'],
  [1_234_567, '1.23 M'],
  [7_000_000_000, '7 G'],
  [1e15, '1,000 T'],
])('a count of %d is told as %s', (count, text) => expect(shortCount(count)).toBe(text.replace(' ', '\u00a0')));
