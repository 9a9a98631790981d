import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { conditionText, parseSearchQuery } from '#modules/exceptions/decide/search_query.ts';

const parsed = (text: string) => parseSearchQuery(text).query;
const faultOf = (text: string) => parseSearchQuery(text).fault;

test('a search has fields, tags and words', () => {
  expect(parsed('user:42 env:prod release:1.2 file:checkout.ts tag.customer:acme "card declined" twice')).toEqual({
    conditions: [
      { field: 'user', value: '42' },
      { field: 'env', value: 'prod' },
      { field: 'release', value: '1.2' },
      { field: 'file', value: 'checkout.ts' },
      { field: 'tag', key: 'customer', value: 'acme' },
    ],
    newIn: null,
    text: 'card declined twice',
  });
});

test.each([
  ['message:"card \\"17\\" was declined"', { field: 'message', value: 'card "17" was declined' }],
  ['environment:prod', { field: 'env', value: 'prod' }],
  ['url:https://shop.example.com/pay', { field: 'url', value: 'https://shop.example.com/pay' }],
  ['tag.browser.name:Chrome', { field: 'tag', key: 'browser.name', value: 'Chrome' }],
])('%s is one condition', (text, condition) => {
  expect(parsed(text)).toMatchObject({ conditions: [condition], text: '' });
});

test.each(['TypeError: x is undefined', 'https://shop.example.com/pay', '12:30', 'a "b c" d', ''])(
  'the text %j is text',
  (text) => {
    expect(parsed(text)).toEqual({ conditions: [], newIn: null, text: text.replaceAll('"', '') });
  },
);

test('new: names the release in which groups began', () => {
  expect(parsed('new:1.2.3')).toEqual({ conditions: [], newIn: '1.2.3', text: '' });
});

describe('a wrong search says what to write instead', () => {
  test.each([
    ['colour:red', 'has no field colour: for a tag write tag.colour:red'],
    ['user:', 'says nothing after user:'],
    ['user: 42', 'says nothing after user:'],
    ['user:"42', 'has a quotation mark that is not closed'],
    ['"card', 'has a quotation mark that is not closed'],
    ['new:1 new:2', 'names two releases'],
    ['user:1 '.repeat(11), 'has 11 conditions'],
    ['x'.repeat(501), 'is longer than 500 characters'],
  ])('%s', (text, fault) => {
    expect(faultOf(text)).toContain(fault);
  });
});

test('every condition can be written and read again, and no text takes long or throws', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.constantFrom('user', 'file', 'message'),
      (value, field) => {
        const condition = { field, value } as const;
        expect(parsed(conditionText(condition))).toEqual({ conditions: [condition], newIn: null, text: '' });
      },
    ),
  );
  fc.assert(fc.property(fc.string({ maxLength: 600 }), (text) => void parseSearchQuery(text)));
});
