import { describe, expect, test } from 'vitest';

import fc from '#test/kit/properties.ts';
import { selectorOfName, selectorText } from '#modules/metrics/decide/selector_text.ts';
import { expressionFaults, parseExpression, patternsIn } from '#modules/metrics/decide/selector.ts';
import { divideExpression, expressionValue, ratioOf } from '#modules/metrics/decide/ratio.ts';

const plain = (name: string) => ({ name, matchers: [] });
const errors = { name: 'http_requests_total', matchers: [{ label: 'status', operator: '=~', value: '5..' }] };

describe('an expression', () => {
  test.each([
    ['cpu', [plain('cpu')], 1],
    ['http/requests', [plain('http/requests')], 1],
    ['a/b/c', [plain('a/b/c')], 1],
    ['a * 100', [plain('a * 100')], 1],
    ['m{a="x / y"}', [{ name: 'm', matchers: [{ label: 'a', operator: '=', value: 'x / y' }] }], 1],
    ["m{a='\\' / y'}", [{ name: 'm', matchers: [{ label: 'a', operator: '=', value: "' / y" }] }], 1],
    ['m{a=`\\ / `}', [{ name: 'm', matchers: [{ label: 'a', operator: '=', value: '\\ / ' }] }], 1],
    ['{"a / b"}', [plain('a / b')], 1],
    ['a / b', [plain('a'), plain('b')], 1],
    ['  a/b  /  c*d  ', [plain('a/b'), plain('c*d')], 1],
    ['a{}/b', [plain('a'), plain('b')], 1],
    ['a{} /b{}', [plain('a'), plain('b')], 1],
    ['{"a / b"} / {"c * d"} * 2', [plain('a / b'), plain('c * d')], 2],
    ['http_requests_total{status=~"5.."} / http_requests_total * 100', [errors, plain('http_requests_total')], 100],
    ['http_requests_total{status=~"5.."}/http_requests_total{}*1e2', [errors, plain('http_requests_total')], 100],
    ['a / b * -0.5', [plain('a'), plain('b')], -0.5],
    ['a\n/\nb\n*\n.5', [plain('a'), plain('b')], 0.5],
  ])('%s is read', (text, sides, factor) => {
    expect(parseExpression(text)).toMatchObject({ sides, factor });
  });

  test.each([
    ['a / b / c', 'a ratio has two sides, and a third one begins, at character 9'],
    ['a / b * 100 / c', 'a ratio has two sides, and a third one begins, at character 15'],
    ['a / b * Inf', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * NaN', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * 1e999', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * 0', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * 2 * 3', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * ', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['a / b * c', 'the factor behind the * is a finite number other than 0, at character 9'],
    ['100 * a / b', 'the factor stands at the end, as in a / b * 100, at character 1'],
    ['a /', 'a metric name is required on both sides of the /, at character 4'],
    [' / b', 'a metric name is required on both sides of the /, at character 2'],
    ['a / b{x', 'the } is missing, at character 8'],
    ['a / b{x=~"(?=y)"}', expect.stringMatching(/RE2 does not accept the pattern .*, at character 10$/)],
    ['a / b{} c', 'nothing may follow the }, at character 9'],
  ])('%s is refused', (text, message) => {
    expect(expressionFaults(text, 'config.metricName')).toEqual([{ path: 'config.metricName', message }]);
  });

  test('the patterns of both sides count together', () => {
    const side = `m{${Array.from({ length: 12 }, (_, label) => `l${label}=~"x{40}y${label}"`).join(',')}}`;
    expect(expressionFaults(side)).toEqual([]);
    expect(expressionFaults(`${side} / ${side}`)).toEqual([
      { path: 'metricName', message: expect.stringContaining('too large together') },
    ]);
    expect(patternsIn('a{x=~"1"} / b{y!~"2"}')).toEqual(['1', '2']);
  });

  test('no name and no label value is ever divided when it is written as a selector', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', ' ', '/', '*', '{', '}', '"', "'", '\\', '\n', '1'),
      minLength: 1,
    });
    fc.assert(
      fc.property(
        word.filter((name) => name.trim() !== ''),
        word,
        (name, value) => {
          expect(divideExpression(selectorOfName(name)).sides).toHaveLength(1);
          const [left, right] = [selectorText(name, [{ label: 'l', operator: '=', value }]), selectorOfName(name)];
          expect(divideExpression(left).sides).toHaveLength(1);
          const read = parseExpression(`${left} / ${selectorText(name, [{ label: 'm', operator: '!=', value }])} * 7`);
          expect(read).toMatchObject({
            sides: [
              { name, matchers: [{ label: 'l', value }] },
              { name, matchers: [{ label: 'm', value }] },
            ],
            factor: 7,
          });
          expect(right.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe('a ratio', () => {
  const of = (value: number | null, isMoreThan?: boolean) => ({ value, isMoreThan });

  test.each([
    [of(3), of(4), 100, { value: 75 }],
    [of(0), of(4), 100, { value: 0 }],
    [of(0), of(0), 100, { value: null }],
    [of(3), of(0), 1, { value: null }],
    [of(3), of(-0), 1, { value: null }],
    [of(null), of(4), 1, { value: null }],
    [of(4), of(null), 1, { value: null }],
    [of(1e308), of(1e-308), 1, { value: Number.MAX_VALUE }],
    [of(-1e308), of(1e-308), 1, { value: -Number.MAX_VALUE }],
    [of(10, true), of(2), 1, { value: 5, isMoreThan: true }],
    [of(10, true), of(-2), 1, { value: null }],
    [of(10), of(2, true), 1, { value: null }],
  ])('%o over %o times %d is %o', (numerator, denominator, factor, value) => {
    expect(ratioOf(numerator, denominator, factor)).toEqual(value);
  });

  test('of a side with itself is 1 where it has data, and nothing where it has none', () => {
    expect(expressionValue([of(5), of(5)], 1)).toEqual({ value: 1 });
    expect(expressionValue([of(null), of(null)], 1)).toEqual({ value: null });
    expect(expressionValue([of(7)], 1)).toEqual(of(7));
  });
});
