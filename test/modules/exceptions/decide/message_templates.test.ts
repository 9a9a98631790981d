import fc from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import { maskVariables } from '#modules/exceptions/decide/masking.ts';
import {
  bucketOf,
  learnMessage,
  type MessageTemplate,
  tokensOfMessage,
} from '#modules/exceptions/decide/message_templates.ts';

/** The keys that a service's messages get, one after the other; each message is its own key at first. */
function keysOf(messages: readonly string[], pinned: readonly string[] = []): string[] {
  const buckets = new Map<string, MessageTemplate[]>();
  const add = (key: string, isPinned: boolean): string => {
    const tokens = tokensOfMessage(maskVariables(key));
    const bucket = buckets.get(bucketOf(tokens)) ?? [];
    if (isPinned) {
      buckets.set(bucketOf(tokens), [...bucket, { key, tokens, isPinned }]);
      return key;
    }
    const { template, change, absorbed } = learnMessage(bucket, { key, tokens });
    const kept = bucket.filter((other) => !absorbed.includes(other.key));
    const after = kept.map((other) => (other.key === template.key ? template : other));
    buckets.set(bucketOf(tokens), change === 'added' ? [...kept, template] : after);
    return template.key;
  };
  for (const message of pinned) add(message, true);
  return messages.map((message) => add(message, false));
}

const groupsOf = (messages: readonly string[]): number => new Set(keysOf(messages)).size;

describe('messages without a stack', () => {
  test.each([
    ['session opened for user root', 'session opened for user ann'],
    ['rhost=10.0.0.1 user=root', 'rhost=db.example.com user=guest'],
    ['could not open "ledger"', 'could not open "quotes"'],
    ['Deleting block blk_-123 now', 'Deleting block blk_99887766554433221100 now'],
    ['link down on eth0', 'link down on wlan1'],
  ])('%j and %j are one', (a, b) => {
    expect(keysOf([a, b])).toEqual([a, a]);
  });

  test.each([
    ['Connection closed by 10.0.0.1', 'Connection reset by 10.0.0.1'],
    ['mail bounced: mailbox full', 'mail bounced: no such user'],
    ['payment declined', 'payment refused'],
  ])('%j and %j are two', (a, b) => {
    expect(groupsOf([a, b])).toBe(2);
  });

  test('a word is a variable once so many others stood there, and they are one group then', () => {
    const names = ['auth', 'cart', 'mailer', 'router'].map((name) => `cannot reach service ${name} any more`);
    expect(groupsOf(names.slice(0, 3))).toBe(3);
    expect(keysOf(names)[3]).toBe(names[0]);
    const learnt = learnMessage(
      names.slice(0, 3).map((key) => ({ key, tokens: tokensOfMessage(key), isPinned: false })),
      { key: names[3]!, tokens: tokensOfMessage(names[3]!) },
    );
    expect(learnt.absorbed).toEqual(names.slice(1, 3));
  });

  test('a template that a person has split off stays one of its own', () => {
    expect(keysOf(['login of user ann failed', 'login of user root failed'], ['login of user root failed'])[1]).toBe(
      'login of user root failed',
    );
  });
});

describe('a template that a person has split off', () => {
  const learn = (templates: readonly [string, boolean][], message: string) =>
    learnMessage(
      templates.map(([key, isPinned]) => ({ key, tokens: tokensOfMessage(key), isPinned })),
      { key: message, tokens: tokensOfMessage(message) },
    );

  test('comes before one that covers the message, too', () => {
    const [wide, own] = ['login of user <*> failed', 'login of user root failed'];
    expect(
      learn(
        [
          [wide, false],
          [own, true],
        ],
        own,
      ).template.key,
    ).toBe(own);
    expect(
      learn(
        [
          [wide, false],
          [own, true],
        ],
        'login of user ann failed',
      ).template.key,
    ).toBe(wide);
  });

  test('is neither extended nor absorbed', () => {
    const [ann, root, bob] = ['ann', 'root', 'bob'].map((name) => `login of user ${name} failed`) as [
      string,
      string,
      string,
    ];
    expect(learn([[root, true]], ann)).toMatchObject({ change: 'added', template: { key: ann } });
    expect(
      learn(
        [
          [ann, false],
          [root, true],
        ],
        bob,
      ),
    ).toMatchObject({ change: 'generalized', template: { key: ann }, absorbed: [] });
  });
});

test('of one form a hundred templates are learnt, and every other message is one of its own', () => {
  const letters = (index: number): string => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
  const keys = Array.from({ length: 101 }, (_, index) => `${letters(index)} ${letters(index + 200)} down`);
  const templates = keys.map((key) => ({ key, tokens: tokensOfMessage(key), isPinned: false }));
  const last = templates[100]!;
  expect(learnMessage(templates.slice(0, 99), last)).toMatchObject({ change: 'added' });
  expect(learnMessage(templates.slice(0, 100), last)).toMatchObject({ change: 'none', template: { key: last.key } });
});

test('two words in common are too few to take the third for a variable', () => {
  const learn = (pattern: (name: string) => string) => {
    const keys = ['auth', 'cart', 'mailer', 'router'].map(pattern);
    const templates = keys.slice(0, 3).map((key) => ({ key, tokens: tokensOfMessage(key), isPinned: false }));
    return learnMessage(templates, { key: keys[3]!, tokens: tokensOfMessage(keys[3]!) }).change;
  };
  expect(learn((name) => `cannot reach ${name} now`)).toBe('generalized');
  expect(learn((name) => `reach ${name}`)).toBe('added');
});

test('a message has at most eighty words', () => {
  expect(tokensOfMessage('word '.repeat(1_000))).toHaveLength(80);
});

const word = fc.constantFrom(
  'a',
  'user',
  'ann',
  'bob',
  'eth0',
  'x_1',
  '=',
  ':',
  '"',
  '<number>',
  '<ip>',
  'failed',
  'node',
  '10',
);
const messages = fc.array(
  fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(' ')),
  { maxLength: 25 },
);

test('the same messages in the same order get the same keys, and a message right again gets its key again', () => {
  fc.assert(
    fc.property(messages, fc.nat(), (sent, index) => {
      expect(keysOf(sent)).toEqual(keysOf(sent));
      const last = sent[index % Math.max(1, sent.length)];
      if (last === undefined) return;
      const [again, once] = keysOf([...sent, last, last]).toReversed();
      expect(again).toBe(once);
    }),
  );
});
