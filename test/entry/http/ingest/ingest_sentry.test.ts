import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';

import { acceptedEvents } from '#test/ingest/accepted_data.ts';
import { readRecordings } from '#test/ingest/golden/sentry_recordings.ts';
import { fileWorld, withSettings, type World } from '#test/kit/world.ts';

type Service = Awaited<ReturnType<World['given']['service']>>;

/** Clients that know a limit of a category ignore one for all, so the answer names every category besides. */
const QUIETED = expect.stringMatching(
  /^3600::organization:disabled, 3600:default;error;.*monitor;feedback;.*:organization:disabled$/,
);

const w = await fileWorld();
const service = await w.given.service();

/** 128 MiB of spaces in Brotli, which takes a second. */
const BOMB = Buffer.from(
  'y///PwAkQOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje//H//w8ACYA4LADd+z/+//8BIAEQhwWge//H//8/ACQA4rAAdO//+P//B4AEQBwWgO79H////wCQAIjDAtC9/+P//x8AEgBxWAC693/8//8DQAIgDgtA9/6P//9/AEgAxGEB6N7/8f//DwAJgDgsAN37v/z//wMgARCHBaB7/wc=',
  'base64',
);

const newEventId = () => randomBytes(16).toString('hex');

function eventOf(eventId = newEventId(), extra: object = {}) {
  return { event_id: eventId, message: 'out of beans', level: 'error', platform: 'node', ...extra };
}

function envelopeOf(event: { event_id: string }, header: object = {}): Buffer {
  const lines = [{ event_id: event.event_id, ...header }, { type: 'event' }, event];
  return Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
}

function partsOf(dsn: string): { key: string; projectId: string } {
  const url = new URL(dsn);
  return { key: url.username, projectId: url.pathname.slice(url.pathname.lastIndexOf('/') + 1) };
}

interface Sending {
  readonly body?: Buffer | string;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly query?: string;
  readonly app?: FastifyInstance;
}

/** Sends an envelope as the service's client would, its key in the query. */
async function send(to: Service, { body, headers = {}, path, query, app = w.app }: Sending = {}) {
  const { key, projectId } = partsOf(to.dsn);
  const url = `${path ?? `/api/${projectId}/envelope/`}?${query ?? `sentry_key=${key}`}`;
  const answer = await app.inject({ method: 'POST', url, headers, payload: body ?? envelopeOf(eventOf()) });
  expect(answer.headers['access-control-allow-origin'], 'every answer can be read by browsers').toBe('*');
  return { status: answer.statusCode, headers: answer.headers, json: () => answer.json() };
}

async function eventsOf({ serviceId }: Service) {
  return (await acceptedEvents(w)).filter((arrived) => arrived.serviceId === serviceId).map(({ event }) => event);
}

describe('an event', () => {
  test('is answered with its id and stored with its service and organization', async () => {
    const sender = await w.given.service();
    const event = eventOf();
    const answer = await send(sender, { body: envelopeOf(event) });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ id: event.event_id });
    expect(await eventsOf(sender)).toMatchObject([{ eventId: event.event_id, message: 'out of beans' }]);
    expect((await acceptedEvents(w)).at(-1)).toMatchObject({ orgId: w.orgId, serviceId: sender.serviceId });
  });

  test.each(['envelope', 'envelope/', 'store', 'store/'])('is taken at …/%s', async (address) => {
    const sender = await w.given.service();
    const event = eventOf();
    const body = address.startsWith('store') ? JSON.stringify(event) : envelopeOf(event);
    const path = `/api/${partsOf(sender.dsn).projectId}/${address}`;
    expect((await send(sender, { path, body })).json()).toEqual({ id: event.event_id });
    expect(await eventsOf(sender)).toHaveLength(1);
  });

  test.each(['text/plain;charset=UTF-8', 'application/x-sentry-envelope', 'application/json', 'nonsense', ''])(
    'is taken whatever its content type says: %j',
    async (contentType) => {
      const sender = await w.given.service();
      const headers: Record<string, string> = contentType === '' ? {} : { 'content-type': contentType };
      expect(await send(sender, { headers })).toMatchObject({ status: 200 });
      expect(await eventsOf(sender)).toHaveLength(1);
    },
  );

  const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync };
  test.each(Object.keys(encoders) as (keyof typeof encoders)[])('is taken in the encoding %s', async (encoding) => {
    const sender = await w.given.service();
    const body = encoders[encoding](envelopeOf(eventOf()));
    expect(await send(sender, { body, headers: { 'content-encoding': encoding } })).toMatchObject({ status: 200 });
    expect(await eventsOf(sender)).toHaveLength(1);
  });

  test('is taken as old raven clients send it, in base64 of zlib', async () => {
    const sender = await w.given.service();
    const body = deflateSync(JSON.stringify(eventOf())).toString('base64');
    const path = `/api/${partsOf(sender.dsn).projectId}/store/`;
    expect(await send(sender, { path, body })).toMatchObject({ status: 200 });
    expect(await eventsOf(sender)).toHaveLength(1);
  });

  test('is taken below the path of the base URL as well', async () => {
    const { app } = await withSettings(w, { baseUrl: 'https://tocsin.test/monitor' });
    const sender = await w.given.service();
    const { projectId } = partsOf(sender.dsn);
    expect(await send(sender, { app, path: `/monitor/api/${projectId}/envelope/` })).toMatchObject({ status: 200 });
    expect(await send(sender, { app, path: `/api/${projectId}/envelope/` })).toMatchObject({ status: 200 });
  });
});

test('a tunnel takes what names its service by its DSN alone, as sendBeacon sends it', async () => {
  const sender = await w.given.service();
  const tunnel = { headers: { 'content-type': 'text/plain;charset=UTF-8' }, query: '', path: '/api/ingest/envelope' };
  const event = eventOf();
  expect((await send(sender, { ...tunnel, body: envelopeOf(event, { dsn: sender.dsn }) })).status).toBe(200);
  expect(await eventsOf(sender)).toMatchObject([{ eventId: event.event_id }]);
  expect((await send(sender, tunnel)).status, 'without a DSN').toBe(401);
  const other = sender.dsn.replace(/\d+$/, '999999');
  const astray = { ...tunnel, body: envelopeOf(eventOf(), { dsn: other }) };
  expect((await send(sender, astray)).status, 'with the project id of another').toBe(401);
});

test("a browser's report of a content security policy becomes an event", async () => {
  const sender = await w.given.service();
  const { key, projectId } = partsOf(sender.dsn);
  const report = { 'csp-report': { 'blocked-uri': 'https://evil.test/a.js', 'violated-directive': 'script-src' } };
  const answer = await send(sender, {
    path: `/api/${projectId}/security/`,
    query: `sentry_key=${key}&sentry_environment=shop`,
    headers: { 'content-type': 'application/csp-report' },
    body: JSON.stringify(report),
  });
  expect(answer.status).toBe(200);
  expect(await eventsOf(sender)).toMatchObject([
    { message: "Blocked 'script-src' from 'evil.test'", environment: 'shop' },
  ]);
});

test('a memory dump of a native program is answered with 200 and left out', async () => {
  const sender = await w.given.service();
  const { key, projectId } = partsOf(sender.dsn);
  const dump = {
    path: `/api/${projectId}/minidump/`,
    query: `sentry_key=${key}`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: '--x\r\ncontent-disposition: form-data; name="upload_file_minidump"\r\n\r\nMDMP\r\n--x--\r\n',
  };
  const answer = await send(sender, dump);
  expect([answer.status, answer.json()]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
  expect(await eventsOf(sender)).toEqual([]);
  expect((await send(sender, { ...dump, query: 'sentry_key=1' })).status).toBe(401);
});

test.each([
  ['nel', '[{"type":"network-error","age":5,"url":"https://shop.test/","body":{"type":"dns.name_not_resolved"}}]', 0],
  ['csp-report', '{"csp-report":{"blocked-uri":"https://evil.test/a.js","violated-directive":"script-src"}}', 1],
  ['unreal/KEY', 'CR1', 0],
])('what is sent to the address %s is answered with 200, and counted or kept', async (address, body, kept) => {
  const sender = await w.given.service();
  const { key, projectId } = partsOf(sender.dsn);
  const query = address.includes('KEY') ? '' : `sentry_key=${key}`;
  const request = { path: `/api/${projectId}/${address.replace('KEY', key)}/`, query, headers: {}, body };
  expect((await send(sender, request)).status).toBe(200);
  expect(await eventsOf(sender)).toHaveLength(kept);
});

test('items other than exceptions are answered with 200 and left out', async () => {
  const sender = await w.given.service();
  const body = '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"session"}\n{"sid":"1"}\n';
  expect((await send(sender, { body })).json()).toEqual({ id: '9ec79c33ec9942ab8353589fcb2e04dc' });
  expect(await eventsOf(sender)).toEqual([]);
});

test('every request that real clients were recorded with is taken', async () => {
  const sender = await w.given.service();
  const { key, projectId } = partsOf(sender.dsn);
  const recordings = readRecordings();
  for (const { name, request } of recordings) {
    const headers = Object.entries(request.headers).filter(
      ([header]) => !/^(host|connection|.*-length|transfer-.*)$/.test(header),
    );
    const sent = Object.fromEntries(
      headers.map(([header, value]) => [header, String(value).replaceAll(/[0-9a-f]{32}/g, key)]),
    );
    const query = new URLSearchParams(request.query as Record<string, string>)
      .toString()
      .replaceAll(/[0-9a-f]{32}/g, key);
    const answer = await send(sender, {
      path: `/api/${projectId}/${request.kind}/`,
      query,
      headers: sent,
      body: request.body,
    });
    expect(answer.status, `${name} ${JSON.stringify(answer.json())}`).toBe(200);
  }
  expect(recordings.length).toBeGreaterThan(10);
  expect((await eventsOf(sender)).length).toBeGreaterThan(10);
});

describe('the DSN', () => {
  test.each(['x-sentry-auth', 'authorization', 'query', 'envelope'])(
    'opens its service when its key comes in %s',
    async (place) => {
      const sender = await w.given.service();
      const { key } = partsOf(sender.dsn);
      const auth = `Sentry sentry_version=7, sentry_key=${key}, sentry_client=test/1`;
      const forms: Record<string, Sending> = {
        'x-sentry-auth': { query: '', headers: { 'x-sentry-auth': auth } },
        authorization: { query: '', headers: { authorization: auth } },
        query: { query: `sentry_key=${key}&sentry_version=7` },
        envelope: { query: '', body: envelopeOf(eventOf(), { dsn: sender.dsn }) },
      };
      expect(await send(sender, forms[place])).toMatchObject({ status: 200 });
      expect(await eventsOf(sender)).toHaveLength(1);
    },
  );

  test.each([
    ['no key', 'sentry_version=7', /no DSN key/],
    ['an unknown key', `sentry_key=${'0'.repeat(32)}`, /unknown or was rotated/],
  ])('is asked for with 401, quieting the client, when there is %s', async (_what, query, message) => {
    const answer = await send(service, { query });
    expect(answer).toMatchObject({ status: 401, headers: { 'x-sentry-rate-limits': QUIETED } });
    expect(answer.headers['x-sentry-error']).toMatch(message);
    expect(answer.headers['access-control-expose-headers']).toBe('x-sentry-error, x-sentry-rate-limits, retry-after');
  });

  test('opens its service from the first line of a compressed envelope, of which the rest is read afterwards', async () => {
    const sender = await w.given.service();
    const padding = { extra: { noise: randomBytes(60_000).toString('base64') } };
    const body = envelopeOf(eventOf(newEventId(), padding), { dsn: sender.dsn });
    for (const [encoding, compressed] of Object.entries({ gzip: gzipSync(body), br: brotliCompressSync(body) })) {
      const answer = await send(sender, { query: '', body: compressed, headers: { 'content-encoding': encoding } });
      expect(answer.status, encoding).toBe(200);
    }
    expect(await eventsOf(sender)).toHaveLength(2);
  });

  test('is asked for before more than 16 KiB of the body are read', async () => {
    const { projectId } = partsOf(service.dsn);
    const unknown = JSON.stringify({ dsn: `https://${'0'.repeat(32)}@tocsin.test/${projectId}` });
    const starts = ['['.repeat(1024), `${unknown}\n`, '{"event_id":"x"}\n', '"'.repeat(1024)];
    for (const start of starts) {
      for (const path of [`/api/${projectId}/envelope/`, `/api/${projectId}/store/`]) {
        let isBegun = false;
        const endless = new Readable({
          read() {
            this.push(isBegun ? '['.repeat(1024) : start);
            isBegun = true;
          },
        });
        const answer = await w.app.inject({ method: 'POST', url: path, payload: endless });
        expect(answer.statusCode, start.slice(0, 40)).toBe(401);
      }
    }
  });

  test('does not open with the project id of another service', async () => {
    const { projectId } = partsOf((await w.given.service()).dsn);
    const answer = await send(service, { path: `/api/${projectId}/envelope/` });
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.headers['x-sentry-error']).toMatch(/do not belong together/);
  });

  test('is neither the ingestion key nor an API key', async () => {
    expect(await send(service, { query: `sentry_key=${service.ingestionKey}` })).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${service.ingestionKey}` };
    expect(await send(service, { query: '', headers })).toMatchObject({ status: 401 });
    expect(await w.call('list_services', {}, { key: partsOf(service.dsn).key })).toMatchObject({ status: 401 });
  });

  test('stops within a second of its rotation', async () => {
    const sender = await w.given.service();
    expect(await send(sender)).toMatchObject({ status: 200 });
    const rotated = await w.expectOk('rotate_ingest_key', { serviceId: sender.serviceId });
    w.clock.advance({ seconds: 1 });
    expect(await send(sender)).toMatchObject({ status: 401 });
    expect(await send(rotated)).toMatchObject({ status: 200 });
  });

  test('is refused with 403, quieting the client, when exceptions are not enabled', async () => {
    const sender = await w.given.service({ capabilities: ['metrics'] });
    const answer = await send(sender);
    expect(answer).toMatchObject({ status: 403, headers: { 'x-sentry-rate-limits': QUIETED } });
    expect(answer.headers['x-sentry-error']).toMatch(/capability exceptions is not enabled/);
  });
});

describe('a request', () => {
  test('a body that is no envelope is refused with 400 and says so', async () => {
    const answer = await send(service, { body: 'hello' });
    expect(answer).toMatchObject({ status: 400, headers: { 'x-sentry-error': expect.stringContaining('envelope') } });
    expect(answer.headers).not.toHaveProperty('x-sentry-rate-limits');
  });

  test('a body that inflates beyond the limit is refused with 413', async () => {
    expect(await send(service, { body: BOMB, headers: { 'content-encoding': 'br' } })).toMatchObject({ status: 413 });
  });

  test('an event over 1 MiB is refused with 413 and a reason, and counted; an event beside it is accepted', async () => {
    const sender = await w.given.service();
    const big = eventOf(newEventId(), { extra: { note: 'x'.repeat(1024 * 1024) } });
    const session = '{"type":"session"}\n{"sid":"1"}';
    for (const body of [envelopeOf(big), Buffer.concat([envelopeOf(big), Buffer.from(`\n${session}`)])]) {
      const answer = await send(sender, { body });
      expect(answer).toMatchObject({ status: 413, headers: { 'x-sentry-error': expect.stringContaining('1 MiB') } });
      expect(answer.headers).not.toHaveProperty('x-sentry-rate-limits');
    }
    const small = eventOf();
    const both = [envelopeOf(big), '{"type":"event"}', JSON.stringify(small)].map(String).join('\n');
    expect(await send(sender, { body: both })).toMatchObject({ status: 200 });
    expect(await eventsOf(sender)).toMatchObject([{ message: 'out of beans' }]);
    // Rendered at most once a second.
    w.clock.advance({ seconds: 2 });
    const metrics = await w.metrics();
    expect(metrics).toContain(`code="payload_too_large",service="${sender.serviceId}"} 2`);
    expect(metrics).toContain(`reason="too_large",service="${sender.serviceId}"} 1`);
  });

  test('a body larger than the limit is refused with 413', async () => {
    expect(await send(service, { body: Buffer.alloc(21 * 1024 * 1024, ' ') })).toMatchObject({ status: 413 });
  });

  test('a preflight request may come from any page, with any headers', async () => {
    const { projectId } = partsOf(service.dsn);
    const addresses = [
      `/api/${projectId}/envelope/?sentry_key=1`,
      `/api/${projectId}/store/`,
      '/api/ingest/metrics',
      '/api/ingest/otlp/v1/metrics',
      '/api/ingest/prometheus/write',
    ];
    const preflight = async (url: string, asked?: string) => {
      const headers = { origin: 'https://shop.test', 'access-control-request-method': 'POST' };
      const answer = await w.app.inject({
        method: 'OPTIONS',
        url,
        headers: asked === undefined ? headers : { ...headers, 'access-control-request-headers': asked },
      });
      expect(answer, url).toMatchObject({
        statusCode: 204,
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'POST, OPTIONS' },
      });
      return answer.headers['access-control-allow-headers'];
    };
    for (const url of addresses) {
      expect(await preflight(url)).toContain('x-sentry-auth');
      expect(await preflight(url, 'content-type,x-shop-session')).toBe('content-type,x-shop-session');
      expect(await preflight(url, 'x-a\u00e9')).toContain('x-sentry-auth');
    }
  });

  test('another method is answered with 405', async () => {
    const { projectId } = partsOf(service.dsn);
    const answer = await w.app.inject({ method: 'GET', url: `/api/${projectId}/store/` });
    expect(answer).toMatchObject({ statusCode: 405, headers: { allow: 'POST, OPTIONS' } });
  });
});
