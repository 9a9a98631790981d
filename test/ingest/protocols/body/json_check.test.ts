import { expect, test } from 'vitest';

import { JsonCheck } from '#ingest/protocols/body/json_check.ts';
import { JsonCursor } from '#ingest/protocols/body/json_cursor.ts';
import { finish } from '#kernel/cooperative_task.ts';
import fc from '#test/kit/properties.ts';

function valueAt(cursor: JsonCursor): unknown {
  if (cursor.isObject) {
    const entries: [string, unknown][] = [];
    cursor.begin();
    while (cursor.nextName()) entries.push([cursor.text(), valueAt(cursor)]);
    return Object.fromEntries(entries);
  }
  if (cursor.isList) {
    const list: unknown[] = [];
    cursor.begin();
    while (cursor.nextElement()) list.push(valueAt(cursor));
    return list;
  }
  if (cursor.isText) {
    cursor.readText();
    return cursor.text();
  }
  if (cursor.isNumber) return cursor.number();
  if (!cursor.isNull) return cursor.flag();
  cursor.skip();
  return null;
}

function read(text: string): unknown {
  const bytes = Buffer.from(text);
  const check = new JsonCheck(bytes);
  if (!finish(check.inSteps())) throw new SyntaxError(String(check.fault));
  const cursor = new JsonCursor(bytes, check.large);
  cursor.skipBlanks();
  return valueAt(cursor);
}

function outcome(work: () => unknown): unknown {
  try {
    return { value: work() };
  } catch {
    return 'no JSON';
  }
}

test('values are those that the parser of the engine reads', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
  const long = `{"a":[${Array.from({ length: 3_000 }, (_, i) => `{"n":${i / 7},"s":"\\u00e9\\"}]${i}"}`).join(' , ')}]}`;
  expect(read(long)).toEqual(JSON.parse(long));
});

test('numbers are read to the last digit', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()), (number) => {
      for (const text of [String(number), number.toFixed(3), number.toExponential()]) {
        expect(read(text)).toBe(JSON.parse(text));
      }
    }),
  );
});

test('text that is no JSON is no JSON here either', () => {
  const piece = fc.constantFrom(
    ...'{}[],:"\\ \n\u0001eE+-.019'.split(''),
    'true',
    'null',
    '\\u00',
    '"a"',
    '1.5',
    '{"a":1}',
    '[]',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      expect(
        outcome(() => read(text)),
        text,
      ).toEqual(outcome(() => JSON.parse(text)));
    }),
    { numRuns: 3_000 },
  );
});

test('a value is passed over however long it is', () => {
  const list = `[${'{"a":[1,"]"]},'.repeat(2_000)}1]`;
  const bytes = Buffer.from(`{"long":${list},"next":7}`);
  const check = new JsonCheck(bytes);
  expect(finish(check.inSteps())).toBe(true);
  const cursor = new JsonCursor(bytes, check.large);
  cursor.begin();
  expect(cursor.nextName()).toBe(true);
  cursor.skip();
  expect([cursor.nextName(), cursor.isTextOf('next'), cursor.number(), cursor.nextName()]).toEqual([
    true,
    true,
    7,
    false,
  ]);
});

test('what is nested deeper than anything that is sent is refused', () => {
  const check = new JsonCheck(Buffer.from('['.repeat(100_000)));
  expect(finish(check.inSteps())).toBe(false);
  expect(check.fault).toBe('depth');
});
