import fc, { slowRuns } from '#test/kit/properties.ts';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';

import { anchoredPattern } from '#modules/metrics/decide/pattern_size.ts';
import { parseSelector, expressionFaults } from '#modules/metrics/decide/selector.ts';
import { selectorText } from '#modules/metrics/decide/selector_text.ts';
import type { MatchOperator, MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { AppError } from '#kernel/errors.ts';

/** A selector's text; JSON's escapes are a subset of PromQL's. */
function formatSelector({ name, matchers }: MetricSelector): string {
  const isPlain = !name.includes('{');
  if (isPlain && matchers.length === 0) return name;
  const formatLabel = (label: string) => (/^[^\s=!~,{}"'`]+$/.test(label) ? label : JSON.stringify(label));
  const inside = matchers.map(
    ({ label, operator, value }) => `${formatLabel(label)}${operator}${JSON.stringify(value)}`,
  );
  return isPlain && name.trim() === name
    ? `${name}{${inside.join(',')}}`
    : `{${[JSON.stringify(name), ...inside].join(',')}}`;
}

const matcher = (label: string, operator: MatchOperator, value: string) => ({ label, operator, value });

describe('a selector', () => {
  test.each([
    ['cpu', 'cpu', []],
    ['kit.requests/a-b c', 'kit.requests/a-b c', []],
    ['cpu{}', 'cpu', []],
    [' cpu { } ', 'cpu', []],
    ['cpu{a="x"}', 'cpu', [matcher('a', '=', 'x')]],
    ['cpu{a="x",}', 'cpu', [matcher('a', '=', 'x')]],
    [
      'http_requests_total{status=~"5..",route!="/health"}',
      'http_requests_total',
      [matcher('status', '=~', '5..'), matcher('route', '!=', '/health')],
    ],
    ['m { a = "1" , b !~ \'x|y\' }', 'm', [matcher('a', '=', '1'), matcher('b', '!~', 'x|y')]],
    ['m{service.name="shop"}', 'm', [matcher('service.name', '=', 'shop')]],
    ['m{"a label"="x"}', 'm', [matcher('a label', '=', 'x')]],
    ['{"odd{name","a"="x"}', 'odd{name', [matcher('a', '=', 'x')]],
    ['{"only"}', 'only', []],
    ['m{a="\\"\\\\\\n\\t\\x41\\101\\u00e9\\U0001F600"}', 'm', [matcher('a', '=', '"\\\n\tAAé😀')]],
    ['m{a=`\\d"\'`}', 'm', [matcher('a', '=', '\\d"\'')]],
    ['m{a="}{,="}', 'm', [matcher('a', '=', '}{,=')]],
    ['m{a=""}', 'm', [matcher('a', '=', '')]],
  ])('%s is read', (text, name, matchers) => {
    expect(parseSelector(text)).toEqual({ name, matchers });
  });

  test.each([
    ['', 'a metric name is required'],
    ['  ', 'a metric name is required'],
    ['{a="x"}', 'a metric name is required before the {'],
    ['{}', 'a metric name is required before the {'],
    ['m{', 'the } is missing, at character 3'],
    ['m{a', 'the } is missing, at character 4'],
    ['m{a}', 'one of = != =~ !~ is expected after the label, at character 4'],
    ['m{"other"}', 'one of = != =~ !~ is expected after the label, at character 10'],
    ['m{a=}', 'a quoted text is expected after =, at character 5'],
    ['m{a=5}', 'a quoted text is expected after =, at character 5'],
    ['m{a=="x"}', 'a quoted text is expected after =, at character 5'],
    ['m{a="x}', 'the closing quote is missing, at character 5'],
    ['m{a="x" b="y"}', 'a comma or } is expected, at character 9'],
    ['m{a="x"', 'a comma or } is expected, at character 8'],
    ['m{a="x"} or n', 'nothing may follow the }, at character 10'],
    ['m{="x"}', 'a label name is expected, at character 3'],
    ['m{""="x"}', 'a label name is expected, at character 3'],
    ['m{__name__="x"}', 'the metric name stands before the {, not as __name__, at character 3'],
    ['m{a="\\q"}', 'an escape that PromQL does not know, at character 6'],
    ['m{a="\\ud800"}', 'an escape that is not a character, at character 6'],
    ['m{a="\\U00110000"}', 'an escape that is not a character, at character 6'],
    ['m{a="\\xff"}', 'a byte beyond ASCII is written as \\u and its code point, at character 6'],
    ['m{a="\n"}', 'a line break in a quoted text is written \\n, at character 5'],
    ['m{a="\ud800"}', 'half of a surrogate pair is not valid text'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => parseSelector(text, 'config.metricName')).toThrow(
      expect.objectContaining({ code: 'invalid_input', faults: [{ path: 'config.metricName', message }] }),
    );
  });

  test.each([
    '(?=a)',
    '(a)\\1',
    'a**',
    'a++',
    '[z-a]',
    '(',
    'a)(b',
    '\\Qabc',
    'a{1001}',
    '(?<!x)y',
    '\\',
    '(a{100}){100}',
  ])('the pattern %s is refused, as RE2 refuses it', (pattern) => {
    expect(() => parseSelector(`m{a=~${JSON.stringify(pattern)}}`)).toThrow(
      /RE2 does not accept the pattern .* at character 6/,
    );
    expect(() => parseSelector(`m{a=${JSON.stringify(pattern)}}`)).not.toThrow();
  });

  test('a pattern that grows beyond reason is refused', () => {
    expect(() => parseSelector(`m{a=~"${'(x{50}y{50})'.repeat(20)}"}`)).toThrow(/too large/);
    expect(() => parseSelector(`m{a=~"${'x'.repeat(513)}"}`)).toThrow(/at most 512 characters/);
  });

  test('patterns that grow beyond reason together are refused, and the same ones again', () => {
    const many = (size: number) => `m{${Array.from({ length: 30 }, (_, at) => `a${at}=~"x{${size}}"`).join(',')}}`;
    for (let time = 0; time < 2; time += 1) {
      expect(() => parseSelector(many(400))).toThrow(/too large together/);
      expect(expressionFaults(many(400))).toEqual([
        { path: 'metricName', message: expect.stringContaining('too large together') },
      ]);
      expect(parseSelector(many(20)).matchers).toHaveLength(30);
    }
  });

  test('is bounded', () => {
    expect(() => parseSelector(`m{${'a="x",'.repeat(65)}}`)).toThrow(/more than 64 matchers/);
    expect(() => parseSelector('m'.repeat(16_385))).toThrow(/at most 16384 characters/);
  });
});

describe('patterns', () => {
  const matches = (pattern: string, value: string) => RE2JS.compile(anchoredPattern(pattern)).matcher(value).find();

  test('have to match the whole value, of which a dot may match any character', () => {
    expect(['5..', '2..|5..', '.*'].map((pattern) => matches(pattern, '503'))).toEqual([true, true, true]);
    expect(['5', '50', '03'].map((pattern) => matches(pattern, '503'))).toEqual([false, false, false]);
    expect(matches('a.b', 'a\nb')).toBe(true);
    expect(matches('a', 'a\n')).toBe(false);
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((found) => found.isWellFormed());
const nameText = text.filter((found) => found.trim() !== '');
const matchers = fc.array(
  fc.oneof(
    fc.record({
      label: nameText.filter((found) => found !== '__name__'),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: text,
    }),
    fc.record({
      label: fc.constantFrom('a', 'b.c'),
      operator: fc.constantFrom('=~' as const, '!~' as const),
      value: fc.constantFrom('5..', 'a|"b"', '\\d+'),
    }),
  ),
  { maxLength: 5 },
);

test('parseSelector reads back what formatSelector writes', () => {
  fc.assert(
    fc.property(nameText, matchers, (name, given) => {
      const selector = { name, matchers: given };
      expect(parseSelector(formatSelector(selector))).toEqual(selector);
    }),
    { numRuns: slowRuns(4_000) },
  );
});

/** Returns what was read, or the sentence of the refusal; anything else that is thrown stays thrown. */
function outcomeOf(given: string): MetricSelector | string {
  try {
    return parseSelector(given);
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_input') return error.message;
    throw error;
  }
}

test('any text is read or refused with a sentence, never more', () => {
  const piece = fc.constantFrom(
    'm',
    '{',
    '}',
    '"',
    "'",
    '`',
    '\\',
    '=',
    '!',
    '~',
    ',',
    ' ',
    'a',
    '\\u00',
    '(',
    '*',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const outcome = outcomeOf(pieces.join(''));
      const again = typeof outcome === 'string' ? outcome : outcomeOf(formatSelector(outcome));
      expect(again).toEqual(outcome);
    }),
    { numRuns: slowRuns(6_000) },
  );
});

test('a selector that is written is read back as it was meant', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => value.isWellFormed());
  const name = text.filter((value) => value.trim() !== '' && (value.includes('{') || value.trim() === value));
  const condition = fc.record({
    label: text.filter((label) => label !== '__name__'),
    operator: fc.constantFrom('=' as const, '!=' as const),
    value: fc.string({ unit: 'binary', maxLength: 20 }).filter((value) => value.isWellFormed()),
  });
  fc.assert(
    fc.property(name, fc.array(condition, { maxLength: 4 }), (metric, conditions) => {
      expect(parseSelector(selectorText(metric, conditions))).toEqual({ name: metric, matchers: conditions });
    }),
  );
});
