import { expect, test } from 'vitest';

import { type ComparedGroup, similarTo } from '#modules/exceptions/decide/similar_groups.ts';

const group = (
  title: string,
  lines: readonly string[],
  culprit: string | null = 'pay (payment.ts)',
): ComparedGroup => ({
  title,
  type: title.split(':')[0] ?? null,
  culprit,
  groupingParts: [{ strategy: 'exception', because: 'the calls', lines }],
});

const DECLINED = group('CardDeclined: card <*> was declined', ['type CardDeclined', 'pay', 'charge', 'handle']);

test('the most alike comes first, with what both have in common', () => {
  const near = group('CardDeclined: card <*> has expired', ['type CardDeclined', 'pay', 'charge', 'retry']);
  const far = group('CardDeclined: bank away', ['type CardDeclined', 'pay'], 'bank (bank.ts)');
  const same = group(DECLINED.title, DECLINED.groupingParts[0]!.lines);
  const similar = similarTo(DECLINED, [far, near, same], 5);
  expect(similar.map((match) => match.group)).toEqual([same, near]);
  expect(similar[1]!.because).toBe('same type, same place, 3 of 4 lines of its key');
  expect(similar[0]!.score).toBe(1);
});

test('a group that shares nothing but a word is not similar, and there are never more than asked for', () => {
  const other = group('Timeout: card reader', ['type Timeout', 'read'], 'read (reader.ts)');
  expect(similarTo(DECLINED, [other], 5)).toEqual([]);
  expect(
    similarTo(
      DECLINED,
      Array.from({ length: 9 }, () => DECLINED),
      5,
    ),
  ).toHaveLength(5);
});
