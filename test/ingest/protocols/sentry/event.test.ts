import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { headlineOf, titleOf } from '#modules/exceptions/decide/title.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { Temporal } from '#kernel/time.ts';

const receivedAt = Temporal.Instant.from('2026-11-21T12:00:00Z');

function normalise(payload: Readonly<Record<string, unknown>>, clientIp: string | null = null): ExceptionEvent {
  const context = { eventId: 'a'.repeat(32), receivedAt, clientIp, client: 'sentry.test/1.0' };
  const event = readEvent({ context, payload: Buffer.from(JSON.stringify(payload)) });
  if (typeof event === 'string') throw new Error(event);
  return event;
}

const frame = { function: 'checkout', filename: 'views.py', lineno: 7 };
const error = { type: 'ValueError', value: 'bad order', stacktrace: { frames: [frame] } };

test.each([
  ['values', { values: [error] }],
  ['a bare list', [error]],
  ['one object', error],
  ['one object in values', { values: error }],
  ['a list with holes', [null, error, {}, { type: '' }]],
  ['a bare list of frames', [{ ...error, stacktrace: [frame] }]],
])('an exception may come as %s', (_shape, exception) => {
  expect(normalise({ exception }).exceptions).toMatchObject([
    { type: 'ValueError', value: 'bad order', frames: [{ function: 'checkout', filename: 'views.py', lineno: 7 }] },
  ]);
});

test.each([null, undefined, 5, true, [], {}, { values: null }, { values: 7 }, [[]], 'x'.repeat(0)])(
  'an exception of %j is no exception',
  (exception) => {
    expect(normalise({ exception }).exceptions).toEqual([]);
  },
);

test('an exception that is only a text is its value, and one whose value has parts is JSON', () => {
  expect(normalise({ exception: ['boom'] }).exceptions[0]).toMatchObject({ type: null, value: 'boom' });
  expect(normalise({ exception: { type: 'E', value: { a: 1 } } }).exceptions[0]).toMatchObject({ value: '{"a":1}' });
});

test('lines of code come without their ends, which Ruby sends', () => {
  const lines = { pre_context: ['def sell\n', '\n'], context_line: '  pay\r\n', post_context: ['end\n'] };
  const [exception] = normalise({
    exception: { ...error, stacktrace: { frames: [{ ...frame, ...lines }] } },
  }).exceptions;
  expect(exception?.frames[0]).toMatchObject({
    preContext: ['def sell', ''],
    contextLine: '  pay',
    postContext: ['end'],
  });
});

describe('threads', () => {
  const stacktrace = { frames: [frame] };
  test.each([
    [
      'the only crashed one',
      {
        values: [
          { id: 1, crashed: true, stacktrace },
          { id: 2, current: true, stacktrace },
        ],
      },
      '1',
    ],
    [
      'the only current one',
      [
        { id: 1, stacktrace },
        { id: 2, current: true, stacktrace },
      ],
      '2',
    ],
    ['the only one with a stack', [{ id: 1 }, { id: 2, stacktrace }], '2'],
    ['a single object', { id: 9, stacktrace }, '9'],
  ])('%s tells the story', (_which, threads, id) => {
    expect(normalise({ threads }).thread).toMatchObject({ id, frames: [{ function: 'checkout' }] });
  });

  test.each([
    [
      [
        { crashed: true, stacktrace },
        { crashed: true, stacktrace },
      ],
    ],
    [[{ stacktrace }, { stacktrace }]],
    [{ values: [] }],
    [null],
    ['x'],
  ])('none does when several could, or none is there: %j', (threads) => {
    expect(normalise({ threads }).thread).toBeNull();
  });
});

test.each([
  ['values', { values: [{ message: 'a' }] }],
  ['a bare list', [{ message: 'a' }, 3]],
  ['one object', { message: 'a' }],
])('breadcrumbs may come as %s', (_shape, breadcrumbs) => {
  expect(normalise({ breadcrumbs }).breadcrumbs).toMatchObject([{ message: 'a', timestamp: null }]);
});

test('the last five hundred of many breadcrumbs stay', () => {
  const breadcrumbs = Array.from({ length: 650 }, (_, index) => ({ message: index, timestamp: 1_795_262_400 }));
  const kept = normalise({ breadcrumbs }).breadcrumbs;
  expect(kept).toHaveLength(500);
  expect(kept.at(-1)).toMatchObject({ message: '649', timestamp: '2026-11-21T12:00:00.000Z' });
});

test.each([
  ['a map', { a: '1', b: 2, c: true, d: null, ' e ': 'x' }],
  ['pairs', [['a', '1'], ['b', 2], ['c', true], ['d', null], ['e', 'x'], 'f', null]],
  [
    'objects',
    [
      { key: 'a', value: '1' },
      { key: 'b', value: 2 },
      { key: 'c', value: true },
      { key: 'e', value: 'x' },
    ],
  ],
])('tags may come as %s', (_shape, tags) => {
  expect(normalise({ tags }).tags).toEqual({ a: '1', b: '2', c: 'true', e: 'x' });
});

test('a hundred tags are kept, cut to 200 characters, and __proto__ is a name like another', () => {
  const tags = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`t${index}`, 'v'.repeat(500)]));
  const kept = normalise({ tags }).tags;
  expect(Object.keys(kept)).toHaveLength(100);
  expect(kept['t0']).toHaveLength(200);
  const hostile = normalise(JSON.parse('{"tags":{"__proto__":"x"},"extra":{"__proto__":{"polluted":true}}}'));
  expect(Object.hasOwn(hostile.tags, '__proto__')).toBe(true);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each([
  ['a string', { message: 'order 17 failed' }, 'order 17 failed', null],
  [
    'formatted',
    { message: { formatted: 'order 17 failed', message: 'order %s failed', params: [17] } },
    'order 17 failed',
    'order %s failed',
  ],
  [
    'a template with a list',
    { logentry: { message: 'order %s failed', params: [17] } },
    'order 17 failed',
    'order %s failed',
  ],
  [
    'a template with names',
    { logentry: { message: 'order %(id)d failed', params: { id: 17 } } },
    'order 17 failed',
    'order %(id)d failed',
  ],
  ['braces', { logentry: { message: 'order {} failed', params: [17] } }, 'order 17 failed', 'order {} failed'],
  [
    'numbered braces',
    { logentry: { message: 'order {0} failed', params: ['17'] } },
    'order 17 failed',
    'order {0} failed',
  ],
  ['too few parameters', { logentry: { message: 'order %s of %s', params: [17] } }, 'order 17 of %s', 'order %s of %s'],
  ['no parameters', { logentry: { message: '100% of orders failed' } }, '100% of orders failed', null],
  ['the old interface', { 'sentry.interfaces.Message': { message: 'order %s', params: [1] } }, 'order 1', 'order %s'],
  ['a number', { message: 42 }, '42', null],
  ['nothing', { message: {} }, null, null],
  ['a list', { message: ['x'] }, null, null],
])('a message may come as %s', (_shape, payload, message, messageTemplate) => {
  expect(normalise(payload)).toMatchObject({ message, messageTemplate });
});

describe('timestamps', () => {
  test.each([
    ['float seconds', 1_795_257_801.467, '2026-11-21T10:43:21.467Z'],
    ['whole seconds', 1_795_257_801, '2026-11-21T10:43:21Z'],
    ['milliseconds', 1_795_257_801_467, '2026-11-21T10:43:21.467Z'],
    ['microseconds', 1_795_257_801_467_123, '2026-11-21T10:43:21.467Z'],
    ['nanoseconds in a string', '1795257801467123456', '2026-11-21T10:43:21.467Z'],
    ['seconds in a string', '1795257801.467', '2026-11-21T10:43:21.467Z'],
    ['ISO with nanoseconds', '2026-11-21T10:44:30.813017538Z', '2026-11-21T10:44:30.813Z'],
    ['ISO with too many digits', '2026-11-21T10:44:30.81301753812345Z', '2026-11-21T10:44:30.813Z'],
    ['ISO without a zone', '2026-11-21T10:44:29.032295', '2026-11-21T10:44:29.032Z'],
    ['ISO with a blank and an offset', '2026-11-21 11:44:29+01:00', '2026-11-21T10:44:29Z'],
    ['ISO with a short offset', '2026-11-21T11:44:29+0100', '2026-11-21T10:44:29Z'],
    ['a little ahead', '2026-11-21T12:05:00Z', '2026-11-21T12:05:00Z'],
    ['old', '2026-11-01T12:00:00Z', '2026-11-01T12:00:00Z'],
  ])('%s are read', (_shape, timestamp, at) => {
    expect(normalise({ timestamp }).at.toString()).toBe(at);
  });

  test.each([
    undefined,
    null,
    '',
    'yesterday',
    'NaN',
    {},
    [],
    true,
    0,
    -5,
    1e300,
    Number.MAX_SAFE_INTEGER,
    1_795_343_201,
    '2026-11-21T12:30:00Z',
    '2020-01-01T00:00:00Z',
    '2026-13-45T99:99:99Z',
    '9999999999999999',
  ])('%j is as good as now', (timestamp) => {
    expect(normalise({ timestamp }).at).toEqual(receivedAt);
  });
});

test.each([
  ['warn', 'warning'],
  ['WARNING', 'warning'],
  ['critical', 'fatal'],
  ['log', 'info'],
  ['trace', 'debug'],
  [40, 'error'],
  [10, 'debug'],
  [50, 'fatal'],
  ['nonsense', 'error'],
  [undefined, 'error'],
  [{}, 'error'],
  ['constructor', 'error'],
])('level %j is %s', (level, expected) => {
  expect(normalise({ level }).level).toBe(expected);
});

describe('users', () => {
  test('an address of {{auto}} is where the request came from', () => {
    expect(normalise({ user: { ip_address: '{{auto}}' } }, '192.0.2.7').user?.ip).toBe('192.0.2.7');
    expect(normalise({ user: { ip_address: '{{auto}}' } }).user).toBeNull();
    expect(normalise({ sdk: { settings: { infer_ip: 'auto' } } }, '192.0.2.7').user?.ip).toBe('192.0.2.7');
    expect(normalise({ sdk: { settings: { infer_ip: 'never' } } }, '192.0.2.7').user).toBeNull();
  });

  test.each([null, {}, [], 'bob', 7])('%j is nobody', (user) => {
    expect(normalise({ user }).user).toBeNull();
  });

  test('a numeric id is a text', () => {
    expect(normalise({ user: { id: 8812, name: 'Bob' } }).user).toEqual({
      id: '8812',
      username: 'Bob',
      email: null,
      ip: null,
    });
  });
});

test('secrets in what a client attaches are not kept', () => {
  const event = normalise({
    request: {
      headers: [
        ['Cookie', 'session=1'],
        ['Accept', '*/*'],
      ],
      data: { user: 'bob', password: 'hunter2', api_key: 'k', nested: { authToken: 't', author: 'Ann' } },
      cookies: { a: '1' },
    },
    extra: { Authorization: 'Bearer x', passing: 'yes' },
  });
  expect(event.request).toEqual({
    headers: [
      ['Cookie', '[filtered]'],
      ['Accept', '*/*'],
    ],
    data: {
      user: 'bob',
      password: '[filtered]',
      api_key: '[filtered]',
      nested: { authToken: '[filtered]', author: 'Ann' },
    },
    cookies: '[filtered]',
  });
  expect(event.extra).toEqual({ Authorization: '[filtered]', passing: 'yes' });
});

test('attached data is cut in depth, number and length', () => {
  let deep: unknown = 'bottom';
  for (let i = 0; i < 1_000; i += 1) deep = [deep];
  const entry = (index: number) => [`k${index}`, { v: 'x'.repeat(index < 50 ? 9_000 : 100) }] as const;
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => entry(index)));
  const event = normalise({ extra: { deep }, contexts: wide });
  expect(JSON.stringify(event.extra)).toBe('{"deep":[[[[[[["…"]]]]]]]}');
  expect(JSON.stringify(event.contexts).length).toBeLessThan(220_000);
});

test('the outermost and innermost calls of a very long stack stay', () => {
  const frames = Array.from({ length: 5_000 }, (_, index) => ({ function: `f${index}` }));
  const kept = normalise({ exception: { type: 'E', stacktrace: { frames } } }).exceptions[0]!.frames;
  expect(kept).toHaveLength(120);
  expect(kept[0]!.function).toBe('f0');
  expect(kept.at(-1)!.function).toBe('f4999');
});

test('texts are cut, well-formed and without the null character', () => {
  const event = normalise({ message: `a\0b${'😀'.repeat(9_000)}`, release: ' shop@1.0 ', server_name: '\uD800' });
  expect(event.message!.length).toBeLessThanOrEqual(8_192);
  expect(event.message!.isWellFormed()).toBe(true);
  expect(event.message).toMatch(/^a\uFFFDb/);
  expect(event).toMatchObject({ release: 'shop@1.0', serverName: '\uFFFD' });
});

test('a client that does not name itself in the event is known by its request', () => {
  expect(normalise({}).sdk).toEqual({ name: 'sentry.test', version: '1.0' });
  expect(normalise({ sdk: { name: 'sentry.go', version: '0.11.0' } }).sdk).toEqual({
    name: 'sentry.go',
    version: '0.11.0',
  });
});

test('any JSON in any field makes an event that has a group and a title', () => {
  const names = [
    'exception',
    'threads',
    'stacktrace',
    'breadcrumbs',
    'tags',
    'message',
    'logentry',
    'timestamp',
    'level',
    'user',
    'sdk',
    'fingerprint',
    'contexts',
    'extra',
    'request',
    'platform',
    'release',
    'transaction',
    'logger',
    'environment',
    'culprit',
  ];
  const keys = [
    'values',
    'frames',
    'type',
    'value',
    'stacktrace',
    'function',
    'filename',
    'module',
    'mechanism',
    'message',
    'params',
  ];
  const { json } = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.jsonValue(),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...keys), tie('json'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), json), (payload) => {
      const event = normalise(payload);
      expect(groupEvent(event).key).toMatch(/^[0-9a-f]{32}$/);
      expect(titleOf(headlineOf(event))).not.toBe('');
    }),
    { numRuns: slowRuns(2_000) },
  );
});
