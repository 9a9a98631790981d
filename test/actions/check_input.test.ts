import { type TObject, type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';

import { checkInput } from '#actions/check_input.ts';
import { type AppError, type Fault } from '#kernel/errors.ts';

function faultsOf(input: TObject, body: unknown): readonly Fault[] {
  try {
    checkInput({ input }, body);
  } catch (error) {
    return (error as AppError).faults;
  }
  return [];
}

describe('an input that the schema refuses is refused, also where no sentence explains it', () => {
  test.each<[string, TSchema, unknown]>([
    ['const', Type.Literal('yes'), 'no'],
    ['const', Type.Literal(true), false],
    ['format', Type.String({ format: 'email' }), 'nobody'],
    ['format', Type.String({ format: 'date-time' }), 'tomorrow'],
    ['pattern', Type.Unsafe({ pattern: '^a+$' }), 'bbb'],
    ['not', Type.Unsafe({ not: { type: 'string' } }), 'text'],
    ['multipleOf', Type.Integer({ multipleOf: 5 }), 7],
    ['uniqueItems', Type.Array(Type.String(), { uniqueItems: true }), ['a', 'a']],
    ['minProperties', Type.Object({}, { minProperties: 1 }), {}],
  ])('%s', (keyword, schema, value) => {
    const body = Type.Object({ steps: Type.Array(Type.Object({ value: schema }, { additionalProperties: false })) });
    const faults = faultsOf(body, { steps: [{ value }] });
    expect(faults).toContainEqual({
      path: 'steps[0].value',
      message: `is not valid: it breaks the rule "${keyword}" of its schema`,
    });
  });
});

test('a sentence of our own is preferred, and a value that fits has no fault', () => {
  const body = Type.Object({ value: Type.String({ pattern: '^a+$', description: 'some a' }) });
  expect(faultsOf(body, { value: 'b' })).toEqual([{ path: 'value', message: 'must be some a; found "b"' }]);
  expect(faultsOf(body, { value: 'aa' })).toEqual([]);
});

test('the path of a fault names properties with a slash or a tilde as they are', () => {
  const body = Type.Object({ 'a/b~c': Type.Literal(1) });
  expect(faultsOf(body, { 'a/b~c': 2 })).toMatchObject([{ path: 'a/b~c' }]);
});
