import { expect, test } from 'vitest';

import { fieldsOf } from '#console/pages/exceptions/field_text.ts';

test('what a sender wrote is shown by name, one level deep, without what says nothing', () => {
  expect(fieldsOf({ url: '/pay', headers: { Accept: '*/*', Cookie: '' }, body: null, list: [1, { a: 2 }] })).toEqual([
    ['url', '/pay'],
    ['headers.Accept', '*/*'],
    ['list', '[1,{"a":2}]'],
  ]);
  expect([fieldsOf(null), fieldsOf({}), fieldsOf([])]).toEqual([[], [], []]);
  expect(fieldsOf('{"cut":"short…')).toEqual([['value', '{"cut":"short…']]);
});
