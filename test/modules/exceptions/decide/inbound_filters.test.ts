import { expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { filterOf, INBOUND_FILTERS } from '#modules/exceptions/decide/inbound_filters.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';
import { withoutFields } from '#modules/exceptions/decide/secret_fields.ts';
import { Temporal } from '#kernel/time.ts';
import fc from '#test/kit/properties.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';

const event = (overrides: Partial<ExceptionEvent> = {}): ExceptionEvent =>
  exceptionEvent(Temporal.Instant.from('2027-01-01T00:00:00Z'), overrides);
const all = { filters: INBOUND_FILTERS, patterns: [] };
const from = (agent: string) => event({ request: { headers: { 'User-Agent': agent } } });

test.each([
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'bots'],
  ['facebookexternalhit/1.1', 'bots'],
  ['Mozilla/5.0 (X11) HeadlessChrome/120.0.0.0 Safari/537.36', 'bots'],
  ['Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0) like Gecko', 'legacy_browsers'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/49.0.2623.112 Safari/537.36', 'legacy_browsers'],
  ['Mozilla/5.0 (Macintosh) AppleWebKit/600 Version/9.1 Safari/601.5', 'legacy_browsers'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36', null],
  ['Mozilla/5.0 (Macintosh) AppleWebKit/605 Version/17.4 Safari/605.1.15', null],
  ['Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0', null],
  ['python-requests/2.32 Robotics/1', null],
])('what %s sends is left out as %s', (agent, filter) => {
  expect(filterOf(from(agent), all)).toBe(filter);
  expect(filterOf(from(agent), { filters: [], patterns: [] })).toBeNull();
  const pairs = event({ request: { headers: [['user-agent', agent]] } });
  expect(filterOf(pairs, all), 'headers as pairs').toBe(filter);
});

test('what an extension raises is left out, by its file or by texts that it is known for', () => {
  const [raised] = event().exceptions;
  const frame = { ...raised!.frames.at(-1)!, absPath: 'chrome-extension://abcdef/content.js' };
  expect(filterOf(event({ exceptions: [{ ...raised!, frames: [frame] }] }), all)).toBe('browser_extensions');
  expect(filterOf(event({ exceptions: [{ ...raised!, value: 'top.GLOBALS is undefined' }] }), all)).toBe(
    'browser_extensions',
  );
  expect(filterOf(event(), all)).toBeNull();
});

test.each([
  ['ResizeObserver loop limit exceeded', 'resizeobserver loop *', true],
  ['Error: ResizeObserver loop', '*ResizeObserver*', true],
  ['Error: a', 'Error', false],
  ['Error: a b c', 'error:*b*c', true],
  ['aa', 'a*a*a', false],
  ['aaa', 'a*a*a', true],
  ['anything', '**', true],
])('%j is like %j: %j', (text, pattern, isLike) => {
  expect(matchesWildcard(text, pattern)).toBe(isLike);
  const settings = { filters: [], patterns: [pattern] };
  expect(filterOf(event({ message: text, exceptions: [] }), settings)).toBe(isLike ? 'pattern' : null);
});

test('a pattern says the same as the regular expression that it stands for', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), word, (text, pattern) => {
      expect(matchesWildcard(text, pattern)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text));
    }),
  );
});

test('fields that a service calls secret lose their values, wherever they stand', () => {
  const [raised] = event().exceptions;
  const frames = [{ ...raised!.frames.at(-1)!, variables: { IBAN: 'NL91', order: { iban: 'NL91', id: 7 } } }];
  const clean = withoutFields(
    event({
      tags: { iban: 'NL91', region: 'eu' },
      extra: { list: [{ Iban: 'NL91' }, ['iban', 'NL91']] },
      contexts: { pay: { iban: 'NL91' } },
      request: {
        headers: [['Iban', 'NL91']],
        data: 'order%5Biban%5D=NL91&a=1',
        query_string: 'next=%2Fa%3Fiban%3DNL91',
      },
      user: { id: '7', email: null, username: null, ip: null, data: { iban: 'NL91' } },
      exceptions: [{ ...raised!, value: "bad {'iban': 'NL91'}", frames }],
      message: 'order with Iban=NL91 failed',
      breadcrumbs: [
        {
          timestamp: null,
          type: null,
          category: null,
          level: null,
          message: 'GET /pay?iban=NL91&a=1',
          data: '{"iban":"NL91"}',
        },
      ],
    }),
    ['iban'],
  );
  expect(JSON.stringify(clean)).not.toContain('NL91');
  expect(clean).toMatchObject({
    tags: { region: 'eu' },
    user: { id: '7' },
    breadcrumbs: [{ message: 'GET /pay?iban=[filtered]&a=1' }],
  });
  expect(clean.exceptions[0]!.frames[0]!.variables).toMatchObject({ order: { id: 7 } });
});
