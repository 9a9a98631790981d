import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { parseDsn, sentryKeyOf } from '#ingest/protocols/sentry/auth.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import { decode, requestOf } from '#test/ingest/golden/sentry_recordings.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const OTHER = 'f'.repeat(32);
const ID = '9f3329ff52304ef080395b9b8bf31b50';
const event = JSON.stringify({ event_id: ID, message: 'boom' });

describe('the key', () => {
  test.each([
    [
      'X-Sentry-Auth',
      { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${KEY}`, authorization: `Sentry sentry_key=${OTHER}` },
      {},
    ],
    ['X-Sentry-Auth without a scheme', { 'x-sentry-auth': `sentry_key=${KEY},sentry_version=7` }, {}],
    ['Authorization', { authorization: `Sentry sentry_key=${KEY}` }, { sentry_key: OTHER }],
    ['the query', { authorization: `Bearer ${OTHER}` }, { sentry_key: KEY }],
    [
      'the query, the header being no key',
      { 'x-sentry-auth': 'Sentry sentry_key=short' },
      { sentry_key: KEY.toUpperCase() },
    ],
  ])('is taken from %s', (_where, headers, query) => {
    expect(sentryKeyOf(headers, query)).toBe(KEY);
  });

  test.each([
    [{}, {}],
    [{ authorization: `Basic ${KEY}` }, { sentry_key: [KEY] }],
    [{ 'x-sentry-auth': 'Sentry sentry_key=' }, { sentry_key: `${KEY}0` }],
  ])('is missing from %j and %j', (headers, query) => {
    expect(sentryKeyOf(headers, query)).toBeNull();
  });

  test("is taken from the envelope's dsn when nothing else names one", async () => {
    const body = `{"dsn":"https://${KEY}@errors.example.com/prefix/4211"}\n{"type":"event"}\n${event}\n`;
    const request = requestOf('envelope', body);
    expect(await decode({ ...request, headers: {} })).toMatchObject({ publicKey: KEY, projectId: '4211' });
    const signed = { 'x-sentry-auth': `Sentry sentry_key=${OTHER}` };
    expect(await decode({ ...request, headers: signed })).toMatchObject({ publicKey: OTHER, projectId: '4211' });
  });

  test.each([null, 7, '', 'https://example.com/1', `https://short@example.com/1`, `::${KEY}`])(
    '%j is no dsn',
    (dsn) => {
      expect(parseDsn(dsn)).toBeNull();
    },
  );

  test('a dsn with a secret is read, its project id only if it is a number', () => {
    expect(parseDsn(`http://${KEY}:secret@host:9000/a/b/12`)).toEqual({ publicKey: KEY, projectId: '12' });
    expect(parseDsn(`http://${KEY}@host/abc`)).toEqual({ publicKey: KEY, projectId: null });
  });
});

describe('the body', () => {
  const plain = Buffer.from(event);
  test.each([
    ['plain', undefined, plain],
    ['gzip', 'gzip', gzipSync(plain)],
    ['deflate', 'deflate', deflateSync(plain)],
    ['deflate without its header', 'deflate', deflateRawSync(plain)],
    ['br', 'br', brotliCompressSync(plain)],
    ['zstd', 'zstd', zstdCompressSync(plain)],
    ['gzip that nobody declared', undefined, gzipSync(plain)],
    ['zlib that nobody declared', undefined, deflateSync(plain)],
    ['base64 of zlib', undefined, Buffer.from(deflateSync(plain).toString('base64'))],
    [
      'base64 in lines',
      undefined,
      Buffer.from(`${deflateSync(plain).toString('base64').replaceAll(/.{30}/g, '$&\n')}\n`),
    ],
    ['base64 of JSON', undefined, Buffer.from(plain.toString('base64'))],
    ['gzip that a proxy undid', 'gzip', plain],
    ['with a byte order mark', undefined, Buffer.concat([Buffer.from('\uFEFF'), plain])],
  ])('may be %s', async (_encoding, encoding, body) => {
    const request = requestOf('store', '');
    const headers = { ...request.headers, 'content-encoding': encoding };
    const delivery = await decode({ ...request, headers, body });
    expect(delivery).toMatchObject({ eventId: ID, events: [{ message: 'boom' }], dropped: [] });
  });

  test.each(['', 'null', '[]', '7', '"x"', '{"a":', 'hello', '\u0000'])('%j is refused at store', async (body) => {
    await expect(decode(requestOf('store', body))).rejects.toMatchObject({ name: 'AppError', code: 'invalid_input' });
  });

  test.each(['', '\n', '[]\n{"type":"event"}\n{}', 'x\n', '{"a":'])('%j is refused as an envelope', async (body) => {
    await expect(decode(requestOf('envelope', body))).rejects.toMatchObject({
      name: 'AppError',
      code: 'invalid_input',
    });
  });

  test('NaN and Infinity, which Python writes, become null outside of strings', async () => {
    const { events } = await decode(
      requestOf('store', '{"message":"a NaN \\" NaN","extra":{"x":NaN,"y":[-Infinity,"NaN"]}}'),
    );
    expect(events[0]).toMatchObject({ message: 'a NaN " NaN', extra: { x: null, y: [null, 'NaN'] } });
  });

  test('a transaction sent to store is dropped', async () => {
    const delivery = await decode(requestOf('store', '{"type":"transaction"}'));
    expect(delivery).toMatchObject({ events: [], dropped: [{ type: 'transaction', reason: 'not_an_exception' }] });
  });

  test('an event over 1 MiB loses its variables, then its context lines, then its breadcrumbs, as much as it takes', async () => {
    const lines = (size: number) => Array.from({ length: size / 1_000 }, () => 'x'.repeat(996));
    const eventOf = (sizes: { vars?: number; context?: number; crumbs?: number; extra?: number }) => {
      const { vars = 100, context = 2_000, crumbs = 2_000, extra = 100 } = sizes;
      const own = {
        vars: { v: 'v'.repeat(vars) },
        pre_context: lines(context),
        context_line: 'here',
        post_context: ['p'],
      };
      return JSON.stringify({
        extra: { frames: { vars: 'mine' }, more: 'e'.repeat(extra) },
        exception: { values: [{ type: 'E', stacktrace: { frames: [{ function: 'f', ...own, lineno: 3 }] } }] },
        breadcrumbs: { values: lines(crumbs).map((message) => ({ message })) },
        message: 'kept }"] \\',
      });
    };
    const MB = 1024 * 1024;
    const readBack = async (body: string) => {
      const delivery = await decodeSentryRequest(requestOf('store', body), async (bytes) => bytes);
      expect(delivery.events[0]!.payload.length).toBeLessThanOrEqual(MB);
      return { sent: delivery.events[0]!.payload.toString(), event: readEvent(delivery.events[0]!) };
    };
    const kept = { message: 'kept }"] \\', extra: { frames: { vars: 'mine' } } };
    const frameOf = (context: number) => ({
      function: 'f',
      lineno: 3,
      contextLine: 'here',
      preContext: { length: context },
    });

    const vars = await readBack(eventOf({ vars: 2 * MB }));
    expect(vars.sent).not.toContain('vvvv');
    expect(vars.event).toMatchObject({ ...kept, exceptions: [{ frames: [frameOf(2)] }], breadcrumbs: { length: 2 } });
    const context = await readBack(eventOf({ vars: MB, context: 1_200_000 }));
    expect(context.event).toMatchObject({
      ...kept,
      exceptions: [{ frames: [frameOf(0)] }],
      breadcrumbs: { length: 2 },
    });
    const crumbs = await readBack(eventOf({ context: 600_000, crumbs: 1_200_000 }));
    expect(crumbs.event).toMatchObject({ ...kept, exceptions: [{ frames: [frameOf(0)] }], breadcrumbs: { length: 0 } });

    const dropped = { events: [], dropped: [{ type: 'event', reason: 'too_large' }] };
    expect(await decode(requestOf('store', eventOf({ extra: MB })))).toMatchObject(dropped);
    expect(await decode(requestOf('store', eventOf({ vars: 9 * MB })))).toMatchObject(dropped);
  });

  test('an event over 1 MiB of which nothing can be left out is dropped and named', async () => {
    const big = JSON.stringify({ message: 'x'.repeat(1024 * 1024) });
    const expected = { events: [], dropped: [{ type: 'event', reason: 'too_large' }] };
    expect(await decode(requestOf('store', big))).toMatchObject(expected);
    expect(await decode(requestOf('envelope', `{}\n{"type":"event"}\n${big}`))).toMatchObject(expected);
  });
});

describe('an envelope', () => {
  const length = Buffer.byteLength(event);
  const read = (body: string) => decode(requestOf('envelope', body));

  test.each([
    ['without a length', `{}\n{"type":"event"}\n${event}\n`],
    ['without a newline at the end', `{}\n{"type":"event"}\n${event}`],
    ['with a length', `{}\n{"type":"event","length":${length}}\n${event}\n`],
    ['with a length and no newline at the end', `{}\n{"type":"event","length":${length}}\n${event}`],
    ['with a length that is too long', `{}\n{"type":"event","length":${length + 900}}\n${event}\n`],
    ['with a length that lies', `{}\n{"type":"event","length":5}\n${event}\n{"type":"session"}\n{}\n`],
    ['with a malformed length', `{}\n{"type":"event","length":"x"}\n${event}\n`],
    ['with blank lines', `{}\n\n\n{"type":"event"}\n${event}\n\n\n`],
    ['with carriage returns', `{}\r\n{"type":"event"}\r\n${event}\r\n`],
    ['behind a binary attachment', `{}\n{"type":"attachment","length":6}\na\nb\n\u0000c\n{"type":"event"}\n${event}`],
    ['behind an item nobody knows', `{}\n{"type":"hologram","length":3}\n{\n}\n{"type":"event"}\n${event}`],
    ['behind a line that is no header', `{}\nnonsense\n{"type":"event"}\n${event}`],
    ['before an item cut off', `{}\n{"type":"event"}\n${event}\n{"type":"session","length":99}\n{"a`],
  ])('is read %s', async (_framing, body) => {
    expect((await read(body)).events).toMatchObject([{ eventId: ID, message: 'boom' }]);
  });

  test('an event cut off is dropped, and the envelope answered', async () => {
    expect(await read(`{"event_id":"${ID}"}\n{"type":"event"}\n${event.slice(0, 20)}`)).toMatchObject({
      eventId: ID,
      events: [],
      dropped: [{ type: 'event', reason: 'malformed' }],
    });
  });

  test('an event is not looked into, if it ends as it should', async () => {
    const body = `{"event_id":"${ID}"}\n{"type":"event"}\n{"message": boom} \r\n`;
    for (const sent of [body, body.replace(`"event_id":"${ID}"`, '')]) {
      const { events } = await decodeSentryRequest(requestOf('envelope', sent), async (bytes) => bytes);
      expect(events.map(readEvent)).toEqual(['malformed']);
    }
  });

  test.each([
    ['with dashes', '"9F3329FF-5230-4EF0-8039-5B9B8BF31B50"', ID],
    ['lower hex', `"${ID}"`, ID],
  ])('an id %s is answered as 32 lower hex digits', async (_form, id, expected) => {
    expect((await read(`{"event_id":${id}}\n{"type":"event"}\n{"message":"a"}`)).eventId).toBe(expected);
    expect((await read(`{}\n{"type":"event"}\n{"message":"a","event_id":${id}}`)).eventId).toBe(expected);
    expect((await read(`{"event_id":${id}}\n{"type":"session"}\n{}`)).eventId).toBe(expected);
  });

  test.each(['null', '""', '"xyz"', '7', `"${'0'.repeat(32)}"`, `"${ID}0"`])(
    'an id of %s is replaced by a new one',
    async (id) => {
      const delivery = await read(`{"event_id":${id}}\n{"type":"event"}\n{"message":"a","event_id":${id}}`);
      expect(delivery.eventId).toMatch(/^[0-9a-f]{32}$/);
      expect(delivery.events[0]!.eventId).toBe(delivery.eventId);
    },
  );

  test('with several events gives its id to the first only', async () => {
    const { events } = await read(
      `{"event_id":"${ID}"}\n{"type":"event"}\n{"message":"a"}\n{"type":"event"}\n{"message":"b"}\n`,
    );
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(2);
    expect(events[0]!.eventId).toBe(ID);
  });

  test('is not read to the end when it holds more than real ones do', async () => {
    const many = await read(`{}\n${`{"type":"event"}\n{"message":"a"}\n`.repeat(600)}`);
    expect(many.events).toHaveLength(10);
    expect(many.dropped.at(-1)).toEqual({ type: 'unknown', reason: 'too_many', count: 1 });
    const blank = await read(`{}\n${'\n'.repeat(2_000_000)}`);
    expect(blank).toMatchObject({ events: [], dropped: [{ reason: 'too_many' }] });
  });
});
