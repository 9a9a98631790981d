import fc from 'fast-check';
import { expect, test } from 'vitest';

import { cutDepth, shrinkJson } from '#modules/alerts/decide/shrink_json.ts';

test('what fits stays as it is', () => {
  const value = { title: 'Disk full', details: { hosts: ['a', 'b'], n: 1, none: null } };
  expect(shrinkJson(value, 1_000)).toEqual(value);
});

test('short values stay beside a long one, wherever it stands', () => {
  const payload = {
    custom_details: { dump: 'x'.repeat(1_000_000) },
    summary: 'Disk full',
    links: [{ href: 'https://a.example' }],
  };
  const shrunk = shrinkJson({ payload, dedup_key: 'k' }, 10_000) as typeof payload & { payload: typeof payload };
  expect(shrunk).toMatchObject({
    dedup_key: 'k',
    payload: { summary: 'Disk full', links: [{ href: 'https://a.example' }] },
  });
  expect(JSON.stringify(shrunk).length).toBeLessThan(10_100);
});

test('deep nesting ends', () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 5_000; depth += 1) value = [value];
  expect(JSON.stringify(shrinkJson(value, 1_000)).length).toBeLessThan(100);
});

test('only what is nested more than 40 deep is cut', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'end' : { a: [nested(levels - 1)] });
  expect(cutDepth(nested(20))).toEqual(nested(20));
  expect(JSON.stringify(cutDepth({ ...(nested(21) as object), b: 1 }))).toMatch(/"a":\["…"\]\}.*"b":1\}$/);
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(JSON.stringify(cutDepth(deep))).toBe(`${'['.repeat(40)}"…"${']'.repeat(40)}`);
});

test('whatever the value, the result is JSON of about the size that was asked for', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 100, max: 2_000 }), (value, sizeMax) => {
      const text = JSON.stringify(shrinkJson(value, sizeMax));
      // Escapes and numbers may be longer than what is counted.
      expect(text.length).toBeLessThan(6 * sizeMax + 100);
      const whole = JSON.stringify(value);
      const fits = whole.length * 3 < sizeMax;
      expect(fits ? JSON.parse(text) : null).toEqual(fits ? JSON.parse(whole) : null);
    }),
  );
});
