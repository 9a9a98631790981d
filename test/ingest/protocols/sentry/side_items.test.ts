import { describe, expect, test } from 'vitest';

import { crashFreePercent } from '#modules/exceptions/decide/sessions.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { kindOf } from '#ingest/protocols/sentry/side_items.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';

const ID = '9f3329ff52304ef080395b9b8bf31b50';

async function envelope(...items: readonly (readonly [header: object, payload: object | string])[]) {
  const lines = items.flatMap(([header, payload]) => [
    JSON.stringify(header),
    typeof payload === 'string' ? payload : JSON.stringify(payload),
  ]);
  const body = [JSON.stringify({ event_id: ID }), ...lines].join('\n');
  return await decodeSentryRequest(requestOf('envelope', body), async (bytes) => bytes);
}

const attrs = { release: 'shop@1.2.0', environment: 'production' };

describe('sessions', () => {
  test.each([
    [{ init: true, status: 'ok', attrs }, [1, 0, 0, 0]],
    [{ init: true, status: 'exited', attrs }, [1, 0, 0, 0]],
    [{ status: 'ok', errors: 2, attrs }, [0, 0, 0, 0]],
    [{ status: 'exited', errors: 2, attrs }, [0, 1, 0, 0]],
    [{ status: 'crashed', errors: 1, attrs }, [0, 0, 1, 0]],
    [{ status: 'unhandled', errors: 1, attrs }, [0, 1, 0, 0]],
    [{ status: 'errored', attrs }, [0, 1, 0, 0]],
    [{ init: true, status: 'abnormal', attrs }, [1, 0, 0, 1]],
  ])('%j without an id', async (session, [sessions, errored, crashed, abnormal]) => {
    const { besides } = await envelope([{ type: 'session' }, session]);
    expect(besides.sessions).toEqual([{ ...attrs, sessions, errored, crashed, abnormal }]);
  });

  test.each([
    [{ init: true, status: 'ok', errors: 1 }, 'errored'],
    [{ status: 'unhandled', errors: 1 }, 'errored'],
    [{ init: true, status: 'unhandled' }, 'errored'],
    [{ status: 'exited', errors: 3 }, 'errored'],
    [{ status: 'abnormal', errors: 1 }, 'abnormal'],
    [{ status: 'crashed', errors: 1 }, 'crashed'],
    [{ status: 'exited', errors: 0 }, null],
    [{ init: true, status: 'ok' }, null],
  ])('with an id say with any update how they went: %j', async (update, outcome) => {
    const sid = '9ee6ecc9-bb0b-47b4-9605-6d2525d43bd7';
    const { besides } = await envelope([{ type: 'session' }, { sid, attrs, ...update }]);
    const sessions = 'init' in update ? 1 : 0;
    expect(besides.sessions).toEqual([{ ...attrs, sessions, errored: 0, crashed: 0, abnormal: 0 }]);
    expect(besides.outcomes).toEqual(
      outcome === null ? [] : [{ ...attrs, sessionId: sid.replaceAll('-', ''), outcome }],
    );
  });

  test('that a server counts are added up, and those without a release are left out', async () => {
    const aggregates = [
      { started: 'x', exited: 10, crashed: 1 },
      { exited: 3, errored: 2, unhandled: 2, abnormal: -1 },
      7,
    ];
    const { besides } = await envelope(
      [{ type: 'sessions' }, { aggregates, attrs }],
      [{ type: 'session' }, { init: true, status: 'ok' }],
    );
    expect(besides.sessions).toEqual([{ ...attrs, sessions: 18, errored: 4, crashed: 1, abnormal: 0 }]);
  });

  test('that a server counts are counted whole, also of an hour by minute and person', async () => {
    const aggregates = Array.from({ length: 1_000 }, (_, did) => ({ did, exited: 2 }));
    const { besides } = await envelope([{ type: 'sessions' }, { aggregates, attrs }]);
    expect(besides.sessions).toEqual([{ ...attrs, sessions: 2_000, errored: 0, crashed: 0, abnormal: 0 }]);
  });

  test('are crash-free by a hundred percent only if none crashed', () => {
    expect(crashFreePercent({ sessions: 0, crashed: 0 })).toBeNull();
    expect(crashFreePercent({ sessions: 100_000, crashed: 1 })).toBe(99.99);
    expect(crashFreePercent({ sessions: 3, crashed: 0 })).toBe(100);
    expect(crashFreePercent({ sessions: 1, crashed: 5 })).toBe(0);
  });
});

test.each([
  ['session', { init: true, status: 'ok' }],
  ['session', 'nothing'],
  ['sessions', { aggregates: [{ exited: 3 }] }],
  ['sessions', '{"aggregates"'],
  ['client_report', '{"discarded_events"'],
  ['trace_metric', '{"items"'],
  ['user_report', { comments: ' ' }],
  ['feedback', { contexts: { feedback: { message: '\n' } } }],
  ['check_in', { status: 'ok' }],
])('what is neither counted nor kept of a %s is counted as such: %j', async (type, payload) => {
  const { besides, dropped } = await envelope([{ type }, payload]);
  expect(dropped).toEqual([{ type, reason: 'malformed', count: 1 }]);
  expect(Object.values(besides).flat()).toEqual([]);
});

test('a report of a relay tells what it left out itself, too', async () => {
  const entry = { category: 'error', reason: 'ratelimit_backoff', quantity: 2 };
  const report = { rate_limited_events: [entry], filtered_events: [{ ...entry, reason: 'web-crawlers' }] };
  const { besides } = await envelope([{ type: 'client_report' }, report]);
  expect(besides.discarded).toEqual([
    { kind: 'event', reason: 'client:ratelimit_backoff', count: 2 },
    { kind: 'event', reason: 'client:other', count: 2 },
  ]);
});

test('a client report says what was not sent, by known names alone', async () => {
  const discarded = [
    { category: 'transaction', reason: 'sample_rate', quantity: 90 },
    { category: 'error', reason: 'queue_overflow', quantity: 2 },
    { category: 'strange', reason: 'made up', quantity: 1 },
    { category: 'error', reason: 'before_send', quantity: -4 },
  ];
  const { besides } = await envelope([{ type: 'client_report' }, { discarded_events: discarded }]);
  expect(besides.discarded).toEqual([
    { kind: 'transaction', reason: 'client:sample_rate', count: 90 },
    { kind: 'event', reason: 'client:queue_overflow', count: 2 },
    { kind: 'other', reason: 'client:other', count: 1 },
  ]);
});

test.each([
  ['bytes of files', [['attachment', 5_000]], [['attachment', 1]]],
  [
    'files and their bytes',
    [
      ['attachment', 5_000],
      ['attachment_item', 2],
    ],
    [['attachment', 2]],
  ],
  [
    'lines of a log and their bytes',
    [
      ['log_item', 6],
      ['log_byte', 700],
    ],
    [['log', 6]],
  ],
  [
    'metrics and their bytes',
    [
      ['trace_metric_byte', 700],
      ['trace_metric', 3],
    ],
    [['metric', 3]],
  ],
  ['the time of profiles', [['profile_duration', 9_000]], [['profile', 1]]],
] as const)('a client report counts things, not %s', async (_name, entries, counts) => {
  const discarded = entries.map(([category, quantity]) => ({ category, reason: 'queue_overflow', quantity }));
  const { besides } = await envelope([{ type: 'client_report' }, { discarded_events: discarded }]);
  expect(besides.discarded.map(({ kind, count }) => [kind, count])).toEqual(counts);
});

test('a container counts for what it holds, which is not more than its bytes can be', async () => {
  const { dropped } = await envelope(
    [{ type: 'log', item_count: 6 }, { items: [1, 2, 3, 4, 5, 6] }],
    [{ type: 'span', item_count: 9_000_000 }, '{}'],
    [{ type: 'log', item_count: -1 }, '{}'],
    [{ type: 'log' }, { items: [1, 2, 3, 4] }],
    [{ type: 'log' }, { version: 2, ingest_settings: { infer_ip: 'never', rules: 'x'.repeat(100) }, items: [1, 2] }],
  );
  expect(dropped.map(({ type, count }) => [type, count])).toEqual([
    ['log', 6],
    ['span', 2],
    ['log', 1],
    ['log', 4],
    ['log', 2],
  ]);
});

describe('the clock of a device', () => {
  const at = '2026-11-21T12:00:00Z';
  const ago = (ms: number) => new Date(Date.parse(at) - ms).toISOString();
  const HOUR = 3_600_000;
  const breadcrumbOf = (ms: number) => ({ breadcrumbs: [{ message: 'x', timestamp: ago(ms) }] });

  test.each([
    ['is three hours slow', 3 * HOUR, 3 * HOUR + 5_000, 5_000],
    ['is three hours fast', -3 * HOUR, -3 * HOUR + 5_000, 5_000],
    ['stands in 1971', 55 * 365 * 24 * HOUR, 55 * 365 * 24 * HOUR + 5_000, 5_000],
    ['is right, and the event waited', 0, 3 * HOUR, 3 * HOUR],
    ['is twenty minutes slow, which may be the way', HOUR / 3, HOUR / 3 + 5_000, HOUR / 3 + 5_000],
  ])('%s', async (_name, sentAgo, eventAgo, right) => {
    const head = { event_id: ID, sent_at: ago(sentAgo) };
    const body = [head, { type: 'event' }, { timestamp: ago(eventAgo), ...breadcrumbOf(eventAgo) }];
    const request = requestOf('envelope', body.map((line) => JSON.stringify(line)).join('\n'));
    const delivery = await decodeSentryRequest(
      { ...request, receivedAt: Temporal.Instant.from(at) },
      async (bytes) => bytes,
    );
    const [event] = delivery.events.map(readEvent);
    expect(event).toMatchObject({ breadcrumbs: [{ timestamp: ago(right) }] });
    expect(typeof event === 'object' && toTimestamp(event.at)).toBe(ago(right));
  });

  test('of an older client is told beside its key', async () => {
    const request = requestOf('store', JSON.stringify({ timestamp: ago(3 * HOUR + 5_000), message: 'x' }));
    const seconds = Date.parse(ago(3 * HOUR)) / 1_000;
    const headers = { 'x-sentry-auth': `Sentry sentry_version=7, sentry_timestamp=${seconds}` };
    const delivery = await decodeSentryRequest(
      { ...request, headers: { ...request.headers, ...headers }, receivedAt: Temporal.Instant.from(at) },
      async (bytes) => bytes,
    );
    const [event] = delivery.events.map(readEvent);
    expect(typeof event === 'object' && toTimestamp(event.at)).toBe(ago(5_000));
  });

  test.each([
    ['is twelve minutes fast', -HOUR / 5, 0],
    ['gives the event a time of 1970', 56 * 365 * 24 * HOUR, 56 * 365 * 24 * HOUR],
  ])('that says nothing of itself and %s', async (_name, eventAgo, right) => {
    const body = JSON.stringify({ timestamp: ago(eventAgo), ...breadcrumbOf(eventAgo) });
    const request = { ...requestOf('store', body), receivedAt: Temporal.Instant.from(at) };
    const [event] = (await decodeSentryRequest(request, async (bytes) => bytes)).events.map(readEvent);
    expect(event).toMatchObject({ breadcrumbs: [{ timestamp: ago(right) }] });
    expect(typeof event === 'object' && toTimestamp(event.at)).toBe(ago(0));
  });
});

test('feedback is read in its old and its new form, files as they are', async () => {
  const feedback = { message: 'it broke', contact_email: 'ann@x.test', associated_event_id: ID };
  const { besides, dropped } = await envelope(
    [{ type: 'user_report' }, { event_id: ID, name: 'Ann', comments: 'my password=hunter2 fails' }],
    [{ type: 'feedback' }, { event_id: 'a'.repeat(32), contexts: { feedback } }],
    [
      { type: 'feedback' },
      {
        event_id: 'b'.repeat(32),
        contexts: { feedback: { message: 'about no event', url: 'https://shop.test/pay?token=a1' } },
      },
    ],
    [{ type: 'user_report' }, { comments: ' ' }],
    [{ type: 'attachment', filename: 'log.txt', content_type: 'text/plain', length: 5 }, 'a\nb\nc'],
    [{ type: 'attachment', filename: 'big.bin' }, 'x'.repeat(2_100_000)],
  );
  expect(besides.feedback).toEqual([
    { eventId: ID, feedbackId: null, name: 'Ann', email: null, comments: 'my password=[filtered] fails', url: null },
    { eventId: ID, feedbackId: 'a'.repeat(32), name: null, email: 'ann@x.test', comments: 'it broke', url: null },
    {
      eventId: null,
      feedbackId: 'b'.repeat(32),
      name: null,
      email: null,
      comments: 'about no event',
      url: 'https://shop.test/pay?token=[filtered]',
    },
  ]);
  expect(besides.attachments).toEqual([
    { name: 'log.txt', contentType: 'text/plain', content: Buffer.from('a\nb\nc') },
  ]);
  expect(dropped).toEqual([
    { type: 'user_report', reason: 'malformed', count: 1 },
    { type: 'attachment', reason: 'too_large', count: 1 },
  ]);
});

test('a report of the older form is about the event that its envelope names', async () => {
  const report = async (head: object) =>
    (
      await decodeSentryRequest(
        requestOf(
          'envelope',
          [head, { type: 'user_report' }, { comments: 'it broke' }].map((line) => JSON.stringify(line)).join('\n'),
        ),
        async (bytes) => bytes,
      )
    ).besides.feedback;
  expect(await report({ event_id: ID })).toMatchObject([{ eventId: ID, comments: 'it broke' }]);
  expect(await report({})).toEqual([]);
});

test.each([
  [
    'report-uri',
    {
      'csp-report': {
        'document-uri': 'https://shop.test/pay?token=abc123',
        'blocked-uri': 'https://evil.test/a.js',
        'violated-directive': "script-src 'self'",
      },
    },
  ],
  [
    'the Reporting API',
    [
      {
        type: 'csp-violation',
        body: {
          documentURL: 'https://shop.test/pay?token=abc123',
          blockedURL: 'https://evil.test/b.js',
          effectiveDirective: 'script-src',
        },
      },
      { type: 'deprecation', body: {} },
    ],
  ],
  [
    'an application itself',
    {
      'document-uri': 'https://shop.test/pay?token=abc123',
      'blocked-uri': 'https://evil.test/a.js',
      'violated-directive': "script-src 'self'",
    },
  ],
])('a report of a content security policy by %s is an event', async (_way, report) => {
  const request = { ...requestOf('security', JSON.stringify(report)), query: { sentry_release: '1.2' } };
  const { events } = await decodeSentryRequest(request, async (bytes) => bytes);
  expect(events.map(readEvent)).toMatchObject([
    {
      message: "Blocked 'script-src' from 'evil.test'",
      level: 'warning',
      release: '1.2',
      fingerprint: ['csp', 'script-src', 'evil.test'],
      request: { url: 'https://shop.test/pay?token=[filtered]' },
    },
  ]);
});

test.each([
  ['blob:https://shop.test/0b7f9c1e-3d7a-4a51-9d0e-6f5f0f1c2a3b', 'blob'],
  ['data:text/javascript;base64,YWxlcnQoMSk=', 'data'],
  ['https://ann:hunter2@evil.test:8443/a.js', 'evil.test:8443'],
  ['chrome-extension://abcdef/a.js', 'abcdef'],
  ['inline', 'inline'],
  ['', 'self'],
])('what a policy blocks at %j is named %j', async (blockedURI, name) => {
  const report = { effectiveDirective: 'script-src', blockedURI, documentURI: 'https://shop.test/pay' };
  const { events } = await decodeSentryRequest(requestOf('security', JSON.stringify(report)), async (bytes) => bytes);
  expect(events.map(readEvent)).toMatchObject([
    { fingerprint: ['csp', 'script-src', name], request: { url: 'https://shop.test/pay' } },
  ]);
});

test.each([
  ['{}', 1],
  ['[]', 0],
  ['{"type":"other"}', 1],
  ['[{"type":"deprecation","body":{}},{"type":"crash"},null]', 3],
  ['{"expect-ct-report":{"hostname":"shop.test"}}', 1],
])('%s holds no violation, and its reports are counted', async (body, count) => {
  const { events, dropped } = await decodeSentryRequest(requestOf('security', body), async (bytes) => bytes);
  expect(events).toEqual([]);
  expect(dropped).toEqual(count === 0 ? [] : [{ type: 'browser_report', reason: 'not_an_exception', count }]);
});

test('what a browser reports at once is read, also with a long policy in each report', async () => {
  const originalPolicy = "script-src 'self'; ".repeat(500);
  const body = {
    effectiveDirective: 'script-src',
    blockedURL: 'https://a.test/a.js',
    documentURL: 'x',
    originalPolicy,
  };
  const reports = Array.from({ length: 20 }, () => ({ type: 'csp-violation', body }));
  const request = requestOf('security', JSON.stringify(reports));
  const { events, dropped } = await decodeSentryRequest(request, async (bytes) => bytes);
  expect([events.length, dropped]).toEqual([10, [{ type: 'browser_report', reason: 'not_an_exception', count: 10 }]]);
});

test.each(['7', 'hello'])('%j is no report of a browser', async (body) => {
  await expect(decodeSentryRequest(requestOf('security', body), async (bytes) => bytes)).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

test('what is far larger than a real one is dropped as such, and not read', async () => {
  const long = 'x'.repeat(64 * 1024);
  const { besides, dropped } = await envelope(
    [{ type: 'session' }, { init: true, status: 'ok', attrs, long }],
    [{ type: 'feedback' }, { message: long }],
    [{ type: 'profile' }, { long }],
  );
  expect([besides.sessions, besides.feedback]).toEqual([[], []]);
  expect(dropped).toEqual([
    { type: 'session', reason: 'too_large', count: 1 },
    { type: 'feedback', reason: 'too_large', count: 1 },
    { type: 'profile', reason: 'not_an_exception', count: 1 },
  ]);
});

test('a memory dump of a native program is counted, and nothing of it is read', async () => {
  const { events, dropped } = await decodeSentryRequest(requestOf('minidump', '--x MDMP'), () =>
    Promise.reject(new Error('read')),
  );
  expect(events).toEqual([]);
  expect(dropped).toEqual([{ type: 'minidump', reason: 'not_an_exception', count: 1 }]);
  expect(kindOf('minidump')).toBe('memory dump');
});
