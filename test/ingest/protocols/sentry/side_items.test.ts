import { describe, expect, test } from 'vitest';

import { crashFreePercent } from '#core/exceptions/sessions.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
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
    [{ init: true, status: 'abnormal', attrs }, [1, 0, 0, 1]],
  ])('%j', async (session, [sessions, errored, crashed, abnormal]) => {
    const { besides } = await envelope([{ type: 'session' }, session]);
    expect(besides.sessions).toEqual([{ ...attrs, sessions, errored, crashed, abnormal }]);
  });

  test('that a server counts are added up, and those without a release are left out', async () => {
    const aggregates = [{ started: 'x', exited: 10, crashed: 1 }, { exited: 5, errored: 2, abnormal: -1 }, 7];
    const { besides } = await envelope(
      [{ type: 'sessions' }, { aggregates, attrs }],
      [{ type: 'session' }, { init: true, status: 'ok' }],
    );
    expect(besides.sessions).toEqual([{ ...attrs, sessions: 18, errored: 2, crashed: 1, abnormal: 0 }]);
  });

  test('are crash-free by a hundred percent only if none crashed', () => {
    expect(crashFreePercent({ sessions: 0, crashed: 0 })).toBeNull();
    expect(crashFreePercent({ sessions: 100_000, crashed: 1 })).toBe(99.99);
    expect(crashFreePercent({ sessions: 3, crashed: 0 })).toBe(100);
    expect(crashFreePercent({ sessions: 1, crashed: 5 })).toBe(0);
  });
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

test('feedback is read in its old and its new form, files as they are', async () => {
  const feedback = { message: 'it broke', contact_email: 'ann@x.test', associated_event_id: ID };
  const { besides, dropped } = await envelope(
    [{ type: 'user_report' }, { event_id: ID, name: 'Ann', comments: 'my password=hunter2 fails' }],
    [{ type: 'feedback' }, { event_id: 'a'.repeat(32), contexts: { feedback } }],
    [{ type: 'feedback' }, { contexts: { feedback: { message: 'about nothing' } } }],
    [{ type: 'attachment', filename: 'log.txt', content_type: 'text/plain', length: 5 }, 'a\nb\nc'],
    [{ type: 'attachment', filename: 'big.bin' }, 'x'.repeat(2_100_000)],
  );
  expect(besides.feedback).toEqual([
    { eventId: ID, name: 'Ann', email: null, comments: 'my password=[filtered] fails' },
    { eventId: ID, name: null, email: 'ann@x.test', comments: 'it broke' },
  ]);
  expect(besides.attachments).toEqual([
    { name: 'log.txt', contentType: 'text/plain', content: Buffer.from('a\nb\nc') },
  ]);
  expect(dropped).toEqual([
    { type: 'feedback', reason: 'malformed' },
    { type: 'attachment', reason: 'too_large' },
  ]);
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

test.each(['{}', '[]', '7', '{"type":"other"}', 'hello'])('%j is no report of a browser', async (body) => {
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
    { type: 'session', reason: 'too_large' },
    { type: 'feedback', reason: 'too_large' },
    { type: 'profile', reason: 'not_an_exception' },
  ]);
});
