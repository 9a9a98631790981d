import { expect, test } from 'vitest';

import { mergePattern } from '#modules/exceptions/decide/occurrence.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';
import fc from '#test/kit/properties.ts';

const merged = (messages: readonly string[]): string | null =>
  messages.reduce<string | null>((pattern, message) => mergePattern(pattern, message), null);

test.each([
  [['bad order 1', 'bad order 2'], 'bad order <*>'],
  [["'missing-1'", "'missing-2'"], "'<*>'"],
  [['user bob not found', 'user bob smith not found', 'user al not found'], 'user <*> not found'],
  [['connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.2:5432'], 'connect ECONNREFUSED <*>:5432'],
  [['a@x.com bounced', 'bob@y.org bounced'], '<*> bounced'],
  [['Loading chunk 42 failed', 'Loading CSS chunk 9 failed'], 'Loading <*> chunk <*> failed'],
  [['file /a/b.txt gone', 'file /a/c/d.txt gone'], 'file /a/<*> gone'],
  [['totally different', 'nothing shared here at all', 'x'], '<*>'],
  [['only\none line counts', 'only\nhere too'], 'only'],
  [['  white   space  ', 'white space'], 'white space'],
  [['日本 1', '日本 2'], '日本 <*>'],
  [['', ' '], null],
  [[], null],
])('%j are %j', (messages, pattern) => {
  expect(merged(messages)).toBe(pattern);
  expect(merged(messages.toReversed())).toBe(pattern);
});

const words = fc.constantFrom('order', 'user', 'failed', '17', 'bob', 'for', ':', 'a-b', '(x)');
const messages = fc.array(
  fc.array(words, { maxLength: 6 }).map((list) => list.join(' ')),
  { maxLength: 8 },
);

test('a message that came before changes nothing when it comes again', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const pattern = merged(list);
      for (const message of list) expect(mergePattern(pattern, message)).toBe(pattern);
    }),
    { examples: [[['order order bob', 'order bob order order']]] },
  );
});

test('a pattern keeps the words that all messages share, and adds none', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const literal = (merged(list) ?? '').split(/<\*>| /).filter((part) => part !== '');
      for (const message of list.filter((text) => text.trim() !== '')) {
        for (const part of literal) expect(message).toContain(part);
      }
    }),
  );
});

test.each([
  ['bad order <*>', 'bad order 17 of 18'],
  ['<*> bounced', 'bob bounced'],
  ['a <*> b <*> c', 'a 1 b 2 b 3 c'],
  ['bad order <*>', 'bad order <*>'],
])('%j stays what it is with %j', (pattern, message) => {
  expect(mergePattern(pattern, message)).toBe(pattern);
});

test('mining takes work linear in the messages and in their lengths', async () => {
  expect(await beyondLinear(import.meta.resolve('./pattern_workloads.ts'), 80)).toEqual([]);
  const long = Array.from({ length: 500 }, (_, index) => `${'w '.repeat(index)}${index} ${'x'.repeat(5_000)}`);
  expect(merged(long)!.length).toBeLessThanOrEqual(400);
});
